print([[plain]])
print([[
first line break is skipped]])
print([[

but not the second]])
print([==[with ]] and ]=] inside]==])
print([=[]]]=], #[=[]]=])
print([[no \n escapes \65]])
print([[a "quote" and 'another']])
print(#[[]], #[[

]])
print([[nested [brackets] are fine]])
print([==========[deep]==========])
--[[ a comment
over lines ]] print("after the comment")
--[==[ another ]] still ]=] inside ]==] print("and another")
---[[ not a long comment
print("line comment")
--]]
print [[call without parentheses]]
