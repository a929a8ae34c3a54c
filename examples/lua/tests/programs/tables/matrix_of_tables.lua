local function new(rows, columns, f)
  local m = {}
  for i = 1, rows do
    m[i] = {}
    for j = 1, columns do m[i][j] = f(i, j) end
  end
  return m
end
local function multiply(a, b)
  return new(#a, #b[1], function(i, j)
    local sum = 0
    for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
    return sum
  end)
end
local function show(m) for _, row in ipairs(m) do print(table.concat(row, " ")) end end
local a = new(3, 2, function(i, j) return i * 10 + j end)
local b = new(2, 3, function(i, j) return i == j and 1 or 0 end)
show(multiply(a, b))
show(multiply(b, a))
local power = new(2, 2, function(i, j) return (i == 2 and j == 2) and 0 or 1 end)
local result = power
for _ = 1, 20 do result = multiply(result, power) end
show(result)
