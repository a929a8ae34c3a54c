-- The fast Fourier transform of a signal, and back: real and imaginary parts take turns in one array.
-- longer: 400
local n = tonumber(arg[1]) or 70

local floor, sin, pi = math.floor, math.sin, math.pi

local function reverse(data, count)
  local j = 0
  for i = 0, count - 2 do
    if i < j then
      local a, b = 2 * i + 1, 2 * j + 1
      data[a], data[b] = data[b], data[a]
      data[a + 1], data[b + 1] = data[b + 1], data[a + 1]
    end
    local half = count / 2
    while half <= j do
      j = j - half
      half = half / 2
    end
    j = j + half
  end
end

local function transform(data, count, direction)
  reverse(data, count)
  local dual = 1
  while dual < count do
    local wr, wi = 1, 0
    local theta = direction * pi / dual
    local s, half = sin(theta), sin(theta / 2)
    local turn = 2 * half * half
    for a = 0, dual - 1 do
      if a > 0 then wr, wi = wr - s * wi - turn * wr, wi + s * wr - turn * wi end
      for b = a, count - 1, 2 * dual do
        local i, j = 2 * b + 1, 2 * (b + dual) + 1
        local zr, zi = data[j], data[j + 1]
        local re, im = wr * zr - wi * zi, wr * zi + wi * zr
        data[j], data[j + 1] = data[i] - re, data[i + 1] - im
        data[i], data[i + 1] = data[i] + re, data[i + 1] + im
      end
    end
    dual = dual * 2
  end
end

local COUNT = 4096
local data, seed = {}, 42
for i = 1, 2 * COUNT do
  seed = seed * 16807 % 2147483647
  data[i] = seed / 2147483647 - 0.5
end
local sum = 0
for _ = 1, n do
  transform(data, COUNT, -1)
  for i = 1, 2 * COUNT, 97 do sum = sum + data[i] * data[i] end
  transform(data, COUNT, 1)
  for i = 1, 2 * COUNT do data[i] = data[i] / COUNT end
end
sum = string.format("%d %.6f", floor(data[1] * 1e9 + 0.5), sum / n)
print("fft " .. n .. " " .. sum)
assert(n ~= 70 or sum == "-499671292 31323.747228")
