-- Builds trees of arrays, whose leaves are arrays of some sizes: work for the collector.
-- longer: 1000
local n = tonumber(arg[1]) or 190

local seed = 74755
local function random()
  seed = (seed * 1309 + 13849) % 65536
  return seed
end

local function leaf(size)
  local list = {}
  for i = 1, size do list[i] = false end
  return list
end

local count = 0
local function tree(depth)
  count = count + 1
  if depth == 1 then return leaf(random() % 10 + 1) end
  local list = {}
  for i = 1, 4 do list[i] = tree(depth - 1) end
  return list
end

local sum = 0
for round = 1, n do
  local root = tree(7)
  local size = 0
  for i = 1, 4 do size = size + #root[i][1][1][1][1][1] end
  sum = (sum * 7 + size) % 1000003
end
sum = sum + count
print("storage " .. n .. " " .. sum)
assert(n ~= 190 or sum == 1970470)
