-- Closures that call closures, of which each loop sees others of the same functions: what one has as its first variable another has not.
local function transpose(f) return function(i, j) return f(j, i) end end
local function add(f, g) return function(i, j) return f(i, j) + g(i, j) end end
local function scale(k, f) return function(i, j) return k * f(i, j) end end
local function only(k) return function(i, j) return k end end

local function product(f, g, n)
  local rows = {}
  for i = 1, n do
    local line = {}
    for j = 1, n do
      local sum = 0
      for k = 1, n do sum = sum + f(i, k) * g(k, j) end
      line[j] = sum
    end
    rows[i] = line
  end
  return function(i, j) return rows[i][j] end
end

local function trace(f, n)
  local sum = 0
  for i = 1, n do sum = sum + f(i, i) end
  return sum
end

local n = 22
local rows = {}
for i = 1, n do
  rows[i] = {}
  for j = 1, n do rows[i][j] = (i * j) % 7 / 8 end
end
local dense = function(i, j) return rows[i][j] end
local forms = {
  scale(0.5, add(dense, transpose(dense))), dense, transpose(scale(0.25, transpose(dense))), only(2),
  transpose(only(0.5)), add(only(1), scale(2, only(3))), transpose(transpose(scale(0.125, dense))),
}
for round = 1, 2 do
  for a = 1, #forms do
    for b = 1, #forms do
      local made = product(forms[a], forms[b], n)
      print(a, b, trace(made, n), trace(transpose(made), n), trace(add(made, forms[a]), n))
    end
  end
end
