-- A field that exists may be set, and cleared, during a traversal.
local t = {}
for i = 1, 50 do t["k" .. i] = i end
for i = 1, 20 do t[i] = -i end
local sum, count = 0, 0
for key, value in pairs(t) do
  sum = sum + value
  count = count + 1
  t[key] = nil
end
print(sum, count, next(t))
for i = 1, 100 do t[i] = i end
for key, value in pairs(t) do t[key] = value * 2 end
local total = 0
for _, value in pairs(t) do total = total + value end
print(total)
