math.randomseed(42)
local first = {}
for i = 1, 5 do first[i] = math.random() end
math.randomseed(42)
local same = true
for i = 1, 5 do same = same and first[i] == math.random() end
print(same)
local inside = true
for _ = 1, 1000 do
  local x, y, z = math.random(), math.random(10), math.random(-5, 5)
  inside = inside and x >= 0 and x < 1 and y >= 1 and y <= 10 and y % 1 == 0 and z >= -5 and z <= 5 and z % 1 == 0
end
print(inside)
print(math.random(1), math.random(7, 7))
local seen = {}
for _ = 1, 1000 do seen[math.random(4)] = true end
print(#seen, seen[5])
print(pcall(math.random, 0))
print(pcall(math.random, 5, 4))
print(pcall(math.random, 1, 2, 3))
print(pcall(math.random, "x"))
print(pcall(math.randomseed))
