-- Multiplies square matrices: rows are tables, and the second one is transposed first.
-- longer: 460
local n = tonumber(arg[1]) or 290

local function matrix(size, seed)
  local rows = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do row[j] = seed * (i - j) * (i + j - 2) end
    rows[i] = row
  end
  return rows
end

local function transposed(a)
  local rows = {}
  for j = 1, #a[1] do
    local row = {}
    for i = 1, #a do row[i] = a[i][j] end
    rows[j] = row
  end
  return rows
end

local function product(a, b)
  local columns, rows = transposed(b), {}
  for i = 1, #a do
    local left, row = a[i], {}
    for j = 1, #columns do
      local right, sum = columns[j], 0
      for k = 1, #right do sum = sum + left[k] * right[k] end
      row[j] = sum
    end
    rows[i] = row
  end
  return rows
end

local step = 1 / n / n
local c = product(matrix(n, step), matrix(n, step * 2))
local trace = 0
for i = 1, n do trace = trace + c[i][i] + c[i][n - i + 1] end
local sum = string.format("%.6f", trace)
print("matmul " .. n .. " " .. sum)
assert(n ~= 290 or sum == "-31577.557853")
