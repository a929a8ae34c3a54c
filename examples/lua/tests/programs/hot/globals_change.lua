counter = 0
step = function() counter = counter + 1 end
for i = 1, 20000 do step() end
print(counter)
step = function() counter = counter + 10 end
for i = 1, 20000 do step() end
print(counter)
local function use() return factor * 2 end
factor = 5
local s = 0
for i = 1, 20000 do s = s + use() end
factor = "7"
print(s, use())
factor = nil
print(pcall(use))
factor = setmetatable({}, { __mul = function() return "mul" end })
print(use())
for i = 1, 1000 do _G["g" .. i] = i end
local sum = 0
for i = 1, 1000 do sum = sum + _G["g" .. i] end
print(sum, g1, g1000)
setfenv(use, { factor = 21 })
print(use())
local floor = math.floor
math.floor = function(x) return "patched" end
local function call() return math.floor(1.5) end
print(call(), call())
math.floor = floor
print(call())
