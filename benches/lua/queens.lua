-- Counts the ways to place n queens on a board so that none attacks another: recursion over arrays of flags.
-- longer: 13
local n = tonumber(arg[1]) or 12

local columns, rising, falling = {}, {}, {}

local function place(row)
  if row > n then return 1 end
  local count = 0
  for column = 1, n do
    local up, down = row + column, row - column + n
    if not columns[column] and not rising[up] and not falling[down] then
      columns[column], rising[up], falling[down] = true, true, true
      count = count + place(row + 1)
      columns[column], rising[up], falling[down] = false, false, false
    end
  end
  return count
end

for i = 1, n do columns[i] = false end
for i = 1, 2 * n do rising[i], falling[i] = false, false end
local sum = place(1)
print("queens " .. n .. " " .. sum)
assert(n ~= 12 or sum == 14200)
