-- A function that has seen one type for long meets others.
local function add(a, b) return a + b end
local s = 0
for i = 1, 20000 do s = add(s, i) end
print(s, add("5", 6), add(1.5, "2"))
local meta = { __add = function(a, b) return "metamethod" end }
print(add(setmetatable({}, meta), 1), add(1, setmetatable({}, meta)))
print(pcall(add, nil, 1))
print(pcall(add, {}, 1))
for i = 1, 20000 do s = add(s, -i) end
print(s)
local function less(a, b) return a < b end
local count = 0
for i = 1, 20000 do if less(i, 10000) then count = count + 1 end end
print(count, less("a", "b"), less("b", "a"), pcall(less, 1, "a"))
local function join(a, b) return a .. b end
local length = 0
for i = 1, 20000 do length = length + #join("x", i) end
print(length, join(1, 2), pcall(join, "x", nil))
