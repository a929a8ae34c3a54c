-- Sorts numbers with a binary heap in an array.
-- longer: 1400000
local n = tonumber(arg[1]) or 400000

local function sift(a, at, count)
  local value = a[at]
  while 2 * at <= count do
    local child = 2 * at
    if child < count and a[child] < a[child + 1] then child = child + 1 end
    if value >= a[child] then break end
    a[at] = a[child]
    at = child
  end
  a[at] = value
end

local function sort(a, count)
  for at = (count - count % 2) / 2, 1, -1 do sift(a, at, count) end
  for last = count, 2, -1 do
    a[1], a[last] = a[last], a[1]
    sift(a, 1, last - 1)
  end
end

local a, seed = {}, 42
for i = 1, n do
  seed = seed * 16807 % 2147483647
  a[i] = seed
end
sort(a, n)
local sum = 0
for i = 1, n do
  assert(i == 1 or a[i - 1] <= a[i])
  sum = (sum + a[i] * (i % 10)) % 1000003
end
print("heapsort " .. n .. " " .. sum)
assert(n ~= 400000 or sum == 731338)
