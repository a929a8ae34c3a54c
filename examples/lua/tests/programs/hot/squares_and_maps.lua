-- Squares are products, maps get many keys in any order and lose them, and a class has more methods than a map keeps in slots.
for i = -50, 50 do
  local x = i / 7
  print(x ^ 2, (x * x), x ^ 2 == x * x, x ^ 3, x ^ 0.5, 2 ^ i, tostring(x) ^ 2, "3" ^ "2", math.pow(x, 2) == x ^ 2)
end
print((-1/0) ^ 2, (0/0) ^ 2, 3 ^ 2, 1e200 ^ 2, -2 ^ 2, (-0) ^ 2)
local t = {}
for i = 1, 100 do t["k" .. i * 37 % 101] = i end
local n = 0
for k, v in pairs(t) do n = n + v end
print(n, t.k5, t.k99, #t)
for i = 1, 100 do t["k" .. i * 37 % 101] = nil end
print(next(t))
local c = {}
for i = 1, 80 do c["m" .. i] = function(self) return i end end
c.__index = c
local o = setmetatable({}, c)
local s = 0
for r = 1, 100 do s = s + o:m7() + o:m80() + o:m33() end
print(s)
-- The same keys in another order each time, asked for by fields and by computed names.
local names = {}
for i = 1, 90 do names[i] = "name" .. i end
local sum = 0
for r = 1, 60 do
  local map = {}
  for i = 1, 90 do map[names[i * r % 91 == 0 and 90 or i * r % 91]] = i + r end
  map.name7 = (map.name7 or 0) + 1
  sum = sum + map.name7 + (map.name90 or 0) + (map.none or 0)
  local count = 0
  for name, value in pairs(map) do count = count + value end
  sum = sum + count
  for i = 1, 90, 2 do map[names[i]] = nil end
  sum = sum + (map.name7 or 1) + (map.name8 or 2) + (next(map) and 1 or 0)
end
print(sum)
