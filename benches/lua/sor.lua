-- Successive over-relaxation of a square grid: each inner cell goes toward the mean of its four neighbours.
-- longer: 2400
local n = tonumber(arg[1]) or 340

local SIZE, OMEGA = 150, 1.25

local grid = {}
for i = 1, SIZE do
  grid[i] = {}
  for j = 1, SIZE do grid[i][j] = (i * 7 + j * 13) % 101 / 100 end
end
for _ = 1, n do
  for i = 2, SIZE - 1 do
    local above, here, below = grid[i - 1], grid[i], grid[i + 1]
    for j = 2, SIZE - 1 do
      here[j] = OMEGA / 4 * (above[j] + below[j] + here[j - 1] + here[j + 1]) + (1 - OMEGA) * here[j]
    end
  end
end
local total = 0
for i = 1, SIZE do
  for j = 1, SIZE do total = total + grid[i][j] * (i - j) % 1 end
end
local sum = string.format("%.6f", total)
print("sor " .. n .. " " .. sum)
assert(n ~= 340 or sum == "11104.228081")
