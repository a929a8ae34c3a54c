-- Estimates pi with points of a generator of its own: subtraction of two earlier numbers, kept in a ring.
-- longer: 18000000
local n = tonumber(arg[1]) or 1500000

local Random = {}
Random.__index = Random

function Random.new(seed)
  local ring = {}
  for i = 1, 17 do
    seed = seed * 9069 % 2147483647
    ring[i] = seed
  end
  return setmetatable({ ring = ring, i = 5, j = 17 }, Random)
end

function Random:next()
  local ring, i, j = self.ring, self.i, self.j
  local value = ring[i] - ring[j]
  if value < 0 then value = value + 2147483647 end
  ring[j] = value
  self.i = i > 1 and i - 1 or 17
  self.j = j > 1 and j - 1 or 17
  return value / 2147483647
end

local random, inside = Random.new(113), 0
for _ = 1, n do
  local x, y = random:next(), random:next()
  if x * x + y * y <= 1 then inside = inside + 1 end
end
print("montecarlo " .. n .. " " .. inside)
assert(n ~= 1500000 or inside == 1178307)
