print(loadstring("return 1, 2, 3")())
print(loadstring("")())
print(select("#", loadstring("return")()))
print(loadstring("local a, b = ... return b, a")(1, 2))
print(type(loadstring("x_set = 5")), x_set)
loadstring("x_set = 5")()
print(x_set)
print(pcall(loadstring("error('inside', 0)")))
print(pcall(loadstring("error('inside')", "=chunk")))
print(pcall(loadstring("\n\nlocal t = nil; t.x = 1", "@file.lua")))
print(pcall(loadstring("local x = 1 + {}", "text of the chunk")))
print(pcall(loadstring("local x = 1 + {}")))
print(pcall(loadstring))
print(pcall(loadstring, {}))
print(loadstring("return ...")("passed", nil, 3))
local f = loadstring("local n = 0 return function() n = n + 1 return n end")
local a, b = f(), f()
print(a(), a(), b())

-- What begins as a dump and is none.
for _, text in ipairs({"\27", "\27Lua", "\27Luajunk", "\27Luajunkjun", "\27Luajunkjunk", "\27Luajunkjunkjunk", "\27Lub"}) do
  print(#text, loadstring(text))
end
