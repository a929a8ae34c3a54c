local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 = 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
local function sum()
  return a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9 + b10
end
local function rotate() a1, a2, a3, b9, b10 = b10, a1, a2, a3, b9 end
print(sum())
rotate() rotate()
print(sum(), a1, a2, a3, b9, b10)
local parts = {}
for i = 1, 60 do parts[i] = "u" .. i end
local names = table.concat(parts, ",")
local code = "local " .. names .. " = ... return function() return " .. table.concat(parts, "+") .. " end"
local values = {}
for i = 1, 60 do values[i] = i end
print(assert(loadstring(code))(unpack(values))())
for i = 61, 62 do parts[i] = "u" .. i end
names = table.concat(parts, ",")
print(loadstring("local " .. names .. " return function() return " .. table.concat(parts, "+") .. " end", "=many"))
