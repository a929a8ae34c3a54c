-- The sieve of Eratosthenes over an array of flags.
-- longer: 51000000
local n = tonumber(arg[1]) or 6600000

local flags = {}
for i = 1, n do flags[i] = true end
local count, sum = 0, 0
for i = 2, n do
  if flags[i] then
    count = count + 1
    sum = (sum + i) % 1000003
    for k = i * i, n, i do flags[k] = false end
  end
end
sum = count * 1000003 + sum
print("sieve " .. n .. " " .. string.format("%d", sum))
assert(n ~= 6600000 or sum == 451160999785)
