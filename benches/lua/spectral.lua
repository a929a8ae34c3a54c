-- The spectral norm of an infinite matrix whose elements are computed, by the power method.
-- longer: 1400
local n = tonumber(arg[1]) or 460

local function element(i, j)
  local at = i + j - 1
  return 1 / (at * (at - 1) / 2 + i)
end

local function times(x, y)
  for i = 1, n do
    local sum = 0
    for j = 1, n do sum = sum + x[j] * element(i, j) end
    y[i] = sum
  end
end

local function transposed_times(x, y)
  for i = 1, n do
    local sum = 0
    for j = 1, n do sum = sum + x[j] * element(j, i) end
    y[i] = sum
  end
end

local u, v, t = {}, {}, {}
for i = 1, n do u[i] = 1 end
for _ = 1, 10 do
  times(u, t)
  transposed_times(t, v)
  times(v, t)
  transposed_times(t, u)
end
local uv, vv = 0, 0
for i = 1, n do
  uv = uv + u[i] * v[i]
  vv = vv + v[i] * v[i]
end
local sum = string.format("%.9f", math.sqrt(uv / vv))
print("spectral " .. n .. " " .. sum)
assert(n ~= 460 or sum == "1.274224106")
