local depth = 100
local code = ("("):rep(depth) .. "1" .. (")"):rep(depth)
print(loadstring("return " .. code)())
code = ("{"):rep(depth) .. ("}"):rep(depth)
print(type(loadstring("return " .. code)()))
code = ("do "):rep(depth) .. "x = 7 " .. ("end "):rep(depth)
loadstring(code)()
print(x)
code = ("not "):rep(depth) .. "1"
print(loadstring("return " .. code)())
code = ("-"):rep(0) .. ("- "):rep(depth) .. "1"
print(loadstring("return " .. code)())
code = "return " .. ("1 + "):rep(1000) .. "1"
print(loadstring(code)())
code = "return " .. ("'a' .. "):rep(100) .. "'b'"
print(#loadstring(code)())
local f = "return "
for i = 1, 20 do f = f .. "function() return " end
f = f .. "'deep'" .. (" end"):rep(20)
local v = loadstring(f)()
while type(v) == "function" do v = v() end
print(v)
print(loadstring("return " .. ("("):rep(300) .. "1" .. (")"):rep(300), "=deep"))
print(loadstring(("do "):rep(300) .. ("end "):rep(300), "=deep"))
print(loadstring("x = " .. ("a."):rep(500) .. "b", "=deep") ~= nil)
