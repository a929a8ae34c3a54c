local s = ("0123456789"):rep(20000)
print(#s, s:sub(100001, 100010), s:byte(-1), s:find("9", 199990), s:find("90", -5))
print(#(s .. s), (s .. "x"):sub(-2), #s:upper(), #s:reverse(), s == ("0123456789"):rep(20000))
print(select(2, s:gsub("5", "")), #s:gsub("[02468]", ""), s:match("()99"), s:find("x", 1, true))
local t = {}
t[s] = 1
print(t[("0123456789"):rep(20000)], t[s .. "0"])
print(s < s .. "0", s > s:sub(1, -2), s < "1")
local parts = {}
for chunk in s:gmatch(("."):rep(16)) do parts[#parts + 1] = chunk end
print(#parts, parts[#parts])
print(#table.concat(parts), #("%s%s"):format(s, s), ("%q"):format(s:sub(1, 5)))
print(tonumber(("1"):rep(300)), tonumber(("1"):rep(310)), tonumber("0." .. ("3"):rep(400)))
print(#("x"):rep(1e6), #(("x"):rep(1e6) .. ("y"):rep(1e6)))
