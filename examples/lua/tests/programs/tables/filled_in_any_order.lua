-- Arrays that are filled backwards, from 2, by every other key, in random order, and what they are then traversed as.
local function order(t) local keys = {} for k in pairs(t) do keys[#keys + 1] = k end table.sort(keys) return #keys, keys[1], keys[#keys] end
local function sum(t) local s = 0 for k, v in pairs(t) do s = s + k * v end return s end
for _, n in ipairs { 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 100, 1000, 4097 } do
  local back = {} for i = n, 1, -1 do back[i] = i end
  local from2 = {} for i = 2, n do from2[i] = i end
  local first_later = {} for i = 2, n do first_later[i] = i end first_later[1] = 1
  local outside = {} for i = 2, n, 2 do outside[i] = i end for i = 1, n, 2 do outside[i] = i end
  local mixed = { x = 1 } for i = n, 1, -1 do mixed[i] = i end mixed.x = nil
  local seed, random = 7, {} for i = 1, n * 2 do seed = (seed * 16807) % 2147483647 random[seed % n + 1] = 1 end
  for i = 1, n do random[i] = i end
  print(n, #back, sum(back), #first_later, sum(first_later), #outside, sum(outside), #mixed, sum(mixed), #random, sum(random), sum(from2))
  print(order(back)) print(order(from2)) print(order(mixed))
  for i = 1, n do if back[i] ~= i or first_later[i] ~= i or outside[i] ~= i or random[i] ~= i then print("lost", n, i) end end
  back[#back + 1] = "next" print(back[n + 1], #back, table.remove(back), #back)
  for i = n, 1, -1 do back[i] = nil end print(next(back), #back)
end
-- Keys far away, negative ones and fractions stay where they are while the array takes the others.
local t = { [-1] = "m", [0.5] = "h", [1e15] = "far" }
for i = 64, 1, -1 do t[i] = i end
print(#t, t[-1], t[0.5], t[1e15], t[64], t[65])
local n = 0 for _ in pairs(t) do n = n + 1 end print(n)
for i = 65, 200 do t[i] = i end
print(#t, t[-1], t[0.5], t[1e15], t[200])
t[-1], t[0.5], t[1e15] = nil
for i = 201, 500 do t[i] = i end
print(#t, order(t))
-- Tables as elements, while the collector is here.
for r = 1, 20 do
  local a = {}
  for i = 300, 1, -1 do a[i] = { i } end
  for i = 2, 600, 2 do a[i] = { i } end
  for i = 301, 600 do a[i] = a[i] or { i } end
  local s = 0 for i = 1, 600 do s = s + a[i][1] end
  if r % 10 == 0 then collectgarbage() print(#a, s) end
end
-- A sieve whose array begins at 2.
local composite, primes = {}, {}
for i = 2, 2000 do composite[i] = false end
for i = 2, 2000 do if not composite[i] then primes[#primes + 1] = i for k = i * i, 2000, i do composite[k] = true end end end
print(#primes, primes[#primes], composite[1], composite[1999], composite[2001])
-- Assigned while it is traversed: fields that are there.
local seen = 0 for k in pairs(composite) do composite[k] = nil seen = seen + 1 end print(seen, next(composite))
-- Keys that do not work, in tables of each kind.
for _, t in ipairs { {}, { 1, 2 }, { x = 1 }, { [100] = 1 } } do
  local function put(k, v) t[k] = v end
  for i = 1, 100 do put(i, i) end
  print(select(2, pcall(put, nil, 1)):match "index is.*", select(2, pcall(put, 0 / 0, 1)):match "index is.*", pcall(put, nil, nil))
end
