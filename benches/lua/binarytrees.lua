-- Binary trees of some depths, made, walked and dropped, beside one that lives on.
-- longer: 15
local n = tonumber(arg[1]) or 14

local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end

local function count(it)
  if it[1] then return 1 + count(it[1]) + count(it[2]) end
  return 1
end

local sum, long = 0, tree(n)
for depth = 4, n, 2 do
  local rounds = 2 ^ (n - depth + 4)
  local nodes = 0
  for _ = 1, rounds do nodes = nodes + count(tree(depth)) end
  sum = (sum * 31 + nodes) % 16777213
end
sum = string.format("%d", sum + count(long))
print("binarytrees " .. n .. " " .. sum)
assert(n ~= 14 or sum == "11825834")
