-- Whoever sets the seed expects the numbers that C's Lua gives; so does whoever sets none.
print(math.random(), math.random(1, 100), math.random(6))
for _, seed in ipairs { 0, 1, 42, -7, 2 ^ 31 - 1, -2 ^ 31, 123456789, 1.9, "17" } do
  math.randomseed(seed)
  print(seed, math.random(), math.random(10), math.random(-5, 5), math.random(100000), math.random(2 ^ 31 - 1))
end
local sum = 0
for _ = 1, 10000 do
  sum = sum + math.random() + math.random(3) + math.random(7, 9)
end
print(sum)
local deck = {}
for i = 1, 52 do deck[i] = i end
for i = 52, 2, -1 do
  local j = math.random(i)
  deck[i], deck[j] = deck[j], deck[i]
end
print(table.concat(deck, " "))
