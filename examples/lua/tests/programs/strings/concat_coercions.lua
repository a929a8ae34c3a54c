print(1 .. 2, 1 .. "", -1 .. "x", 1.5 .. 2.5)
print("a" .. "b" .. "c" .. 1 .. 2)
print(1e15 .. "", 1e14 .. "", 2 ^ 53 .. "", 0.1 .. "", -0.5 .. "")
print(10 .. "" == "10", #(1 .. ""))
local x = "x"
x = x .. x .. x
x = x .. x
print(x, #x)
print(pcall(function() return "a" .. nil end))
print(pcall(function() return {} .. "a" end))
print(pcall(function() return 1 .. true end))
print(pcall(function() local a, b = "x", print; return a .. b end))
local parts = ""
for i = 1, 20 do parts = parts .. i .. (i < 20 and "," or "") end
print(parts)
