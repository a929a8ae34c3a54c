local Matrix = {}
Matrix.__index = Matrix
local function new(rows) return setmetatable(rows, Matrix) end
local function make(n, m, f) local t = {} for i = 1, n do t[i] = {} for j = 1, m do t[i][j] = f(i, j) end end return new(t) end
function Matrix.__add(a, b) return make(#a, #a[1], function(i, j) return a[i][j] + b[i][j] end) end
function Matrix.__sub(a, b) return make(#a, #a[1], function(i, j) return a[i][j] - b[i][j] end) end
function Matrix.__mul(a, b)
  if type(a) == "number" then a, b = b, a end
  if type(b) == "number" then return make(#a, #a[1], function(i, j) return a[i][j] * b end) end
  if #a[1] ~= #b then error("sizes do not fit", 2) end
  return make(#a, #b[1], function(i, j) local s = 0 for k = 1, #b do s = s + a[i][k] * b[k][j] end return s end)
end
function Matrix.__unm(a) return a * -1 end
function Matrix.__eq(a, b)
  for i = 1, #a do for j = 1, #a[1] do if math.abs(a[i][j] - b[i][j]) > 1e-9 then return false end end end
  return true
end
function Matrix.__pow(a, n)
  local result = make(#a, #a, function(i, j) return i == j and 1 or 0 end)
  while n > 0 do if n % 2 == 1 then result = result * a end a = a * a n = math.floor(n / 2) end
  return result
end
function Matrix.__tostring(a)
  local rows = {}
  for i, row in ipairs(a) do local t = {} for j, v in ipairs(row) do t[j] = ("%g"):format(v) end rows[i] = table.concat(t, " ") end
  return "[" .. table.concat(rows, "; ") .. "]"
end
function Matrix:transpose() return make(#self[1], #self, function(i, j) return self[j][i] end) end
function Matrix:determinant()
  local a, sign, n = make(#self, #self, function(i, j) return self[i][j] end), 1, #self
  for c = 1, n do
    local pivot = c
    for r = c + 1, n do if math.abs(a[r][c]) > math.abs(a[pivot][c]) then pivot = r end end
    if a[pivot][c] == 0 then return 0 end
    if pivot ~= c then a[pivot], a[c] = a[c], a[pivot] sign = -sign end
    for r = c + 1, n do
      local f = a[r][c] / a[c][c]
      for k = c, n do a[r][k] = a[r][k] - f * a[c][k] end
    end
  end
  local d = sign
  for i = 1, n do d = d * a[i][i] end
  return d
end
function Matrix:inverse()
  local n = #self
  local a = make(n, 2 * n, function(i, j) return j <= n and self[i][j] or (j - n == i and 1 or 0) end)
  for c = 1, n do
    local pivot = c
    while a[pivot] and a[pivot][c] == 0 do pivot = pivot + 1 end
    if not a[pivot] then return nil, "singular" end
    a[pivot], a[c] = a[c], a[pivot]
    local p = a[c][c]
    for k = 1, 2 * n do a[c][k] = a[c][k] / p end
    for r = 1, n do
      local f = a[r][c]
      if r ~= c and f ~= 0 then for k = 1, 2 * n do a[r][k] = a[r][k] - f * a[c][k] end end
    end
  end
  return make(n, n, function(i, j) return a[i][j + n] end)
end
local a, b = new { { 1, 2 }, { 3, 4 } }, new { { 0, 1 }, { 1, 0 } }
print(a + b, a - b, a * b, 2 * a, a * 2, -a, a:transpose())
print(a == a:transpose():transpose(), a == b, a ^ 5, (b ^ 10) == (b ^ 0))
print(a:determinant(), new({ { 2, 0, 1 }, { 1, 3, 2 }, { 1, 1, 1 } }):determinant(), new({ { 1, 2 }, { 2, 4 } }):determinant())
print(a * a:inverse() == b * b, a:inverse(), new({ { 1, 2 }, { 2, 4 } }):inverse())
print(pcall(function() return a * new { { 1, 2, 3 } } end))
print((new { { 1, 1 }, { 1, 0 } } ^ 50)[1][2])
local h = make(8, 8, function(i, j) return 1 / (i + j - 1) + (i == j and 1 or 0) end)
print(("%.6f"):format(h:determinant()), h * h:inverse() == make(8, 8, function(i, j) return i == j and 1 or 0 end))
