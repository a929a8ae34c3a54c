-- Counts the steps of the points of a square until they leave the circle of the Mandelbrot set.
-- longer: 1500
local n = tonumber(arg[1]) or 660

local LIMIT = 100

local sum = 0
for row = 0, n - 1 do
  local ci = 2.4 * row / n - 1.2
  for column = 0, n - 1 do
    local cr = 2.6 * column / n - 2.0
    local zr, zi, rr, ii, count = 0.0, 0.0, 0.0, 0.0, 0
    while rr + ii <= 4 and count < LIMIT do
      zi = 2 * zr * zi + ci
      zr = rr - ii + cr
      rr, ii = zr * zr, zi * zi
      count = count + 1
    end
    sum = (sum + count * (row % 7 + column % 5 + 1)) % 16777213
  end
end
print("mandelbrot " .. n .. " " .. sum)
assert(n ~= 660 or sum == 9536477)
