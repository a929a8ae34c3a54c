-- Sorts numbers by partition around the middle element, and small parts by insertion.
-- longer: 2300000
local n = tonumber(arg[1]) or 400000

local function insertion(a, low, high)
  for i = low + 1, high do
    local value, j = a[i], i - 1
    while j >= low and a[j] > value do
      a[j + 1] = a[j]
      j = j - 1
    end
    a[j + 1] = value
  end
end

local function sort(a, low, high)
  while high - low > 12 do
    local pivot = a[math.floor((low + high) / 2)]
    local i, j = low, high
    repeat
      while a[i] < pivot do i = i + 1 end
      while a[j] > pivot do j = j - 1 end
      if i <= j then
        a[i], a[j] = a[j], a[i]
        i, j = i + 1, j - 1
      end
    until i > j
    if j - low < high - i then
      sort(a, low, j)
      low = i
    else
      sort(a, i, high)
      high = j
    end
  end
  insertion(a, low, high)
end

local a, seed, sum = {}, 1234, 0
for round = 1, 2 do
  for i = 1, n do
    seed = seed * 16807 % 2147483647
    a[i] = round == 1 and seed or seed % 1000
  end
  sort(a, 1, n)
  for i = 1, n do
    assert(i == 1 or a[i - 1] <= a[i])
    sum = (sum + a[i] * (i % 10)) % 1000003
  end
end
print("quicksort " .. n .. " " .. sum)
assert(n ~= 400000 or sum == 446464)
