-- Sorts with the library: numbers, strings and records with functions that compare, and the same list again when it is in order.
-- longer: 270000
local n = tonumber(arg[1]) or 100000

local seed = 21
local function random(below)
  seed = seed * 16807 % 2147483647
  return seed % below
end

local numbers, words, records, sum = {}, {}, {}, 0
for i = 1, n do
  numbers[i] = random(1000000)
  words[i] = string.char(97 + random(26), 97 + random(26), 97 + random(26)) .. random(1000)
  records[i] = { id = i, group = random(20), weight = random(1000) / 8 }
end
table.sort(numbers)
table.sort(numbers)
table.sort(words)
table.sort(words, function(a, b) return a > b end)
table.sort(records, function(a, b)
  if a.group ~= b.group then return a.group < b.group end
  if a.weight ~= b.weight then return a.weight > b.weight end
  return a.id < b.id
end)
for i = 1, n do
  sum = (sum * 3 + numbers[i] % 1000 + words[i]:byte(2) + records[i].id) % 1000003
end
print("sort " .. n .. " " .. sum)
assert(n ~= 100000 or sum == 410832)
