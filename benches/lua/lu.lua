-- Factors a matrix into triangles, with the greatest pivot of each column, and solves a system of equations with them.
-- longer: 690
local n = tonumber(arg[1]) or 370

local abs = math.abs

local function factor(a, pivots)
  local size = #a
  for j = 1, size do
    local best, greatest = j, abs(a[j][j])
    for i = j + 1, size do
      local here = abs(a[i][j])
      if here > greatest then best, greatest = i, here end
    end
    pivots[j] = best
    a[j], a[best] = a[best], a[j]
    local row = a[j]
    local inverse = 1 / row[j]
    for i = j + 1, size do
      local other = a[i]
      local by = other[j] * inverse
      other[j] = by
      for k = j + 1, size do other[k] = other[k] - by * row[k] end
    end
  end
end

local function solve(a, pivots, b)
  local size = #a
  for i = 1, size do
    local from = pivots[i]
    b[i], b[from] = b[from], b[i]
  end
  for i = 1, size do
    local row, sum = a[i], b[i]
    for j = 1, i - 1 do sum = sum - row[j] * b[j] end
    b[i] = sum
  end
  for i = size, 1, -1 do
    local row, sum = a[i], b[i]
    for j = i + 1, size do sum = sum - row[j] * b[j] end
    b[i] = sum / row[i]
  end
end

-- The solution is 1, 2, 3 and so on.
local a, b, pivots, seed = {}, {}, {}, 7
for i = 1, n do
  a[i], b[i] = {}, 0
  for j = 1, n do
    seed = seed * 16807 % 2147483647
    local value = seed / 2147483647 - 0.5
    a[i][j] = value
    b[i] = b[i] + value * j
  end
end
factor(a, pivots)
solve(a, pivots, b)
local sum, worst = 0, 0
for i = 1, n do
  worst = math.max(worst, abs(b[i] - i))
  sum = (sum * 31 + math.floor(b[i] + 0.5) * pivots[i]) % 1000003
end
assert(worst < 1e-6)
print("lu " .. n .. " " .. sum)
assert(n ~= 370 or sum == 115118)
