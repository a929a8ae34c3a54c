-- All permutations of an array by exchanges, in two ways: with recursion, and by the next one in order.
-- longer: 180
local n = tonumber(arg[1]) or 32

local calls, sum = 0, 0

local function permute(array, count)
  calls = calls + 1
  if count == 0 then
    sum = (sum * 3 + array[1] * 5 + array[#array]) % 1000003
    return
  end
  local last = count
  permute(array, last - 1)
  for i = last - 1, 1, -1 do
    array[last], array[i] = array[i], array[last]
    permute(array, last - 1)
    array[last], array[i] = array[i], array[last]
  end
end

local function next_permutation(array)
  local i = #array - 1
  while i >= 1 and array[i] >= array[i + 1] do i = i - 1 end
  if i < 1 then return false end
  local j = #array
  while array[j] <= array[i] do j = j - 1 end
  array[i], array[j] = array[j], array[i]
  local low, high = i + 1, #array
  while low < high do
    array[low], array[high] = array[high], array[low]
    low, high = low + 1, high - 1
  end
  return true
end

for _ = 1, n do
  local array = {}
  for i = 1, 8 do array[i] = i end
  permute(array, 8)
  repeat
    sum = (sum + array[1] * array[8]) % 1000003
  until not next_permutation(array)
end
sum = sum + calls
print("permute " .. n .. " " .. sum)
assert(n ~= 32 or sum == 4060038)
