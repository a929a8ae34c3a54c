local t = {}
for i = 1, 10000 do t[i] = i end
for i = 1, 10000, 2 do t[i] = nil end
local count, sum = 0, 0
for _, value in pairs(t) do count = count + 1; sum = sum + value end
print(count, sum)
for i = 1, 10000 do t["k" .. i] = i end
for i = 1, 10000 do t[i] = nil end
count = 0
for _ in pairs(t) do count = count + 1 end
print(count, t.k1, t.k10000)
for i = 1, 10000 do t["k" .. i] = nil end
print(next(t))
for i = -100, 100 do t[i] = i * i end
print(t[-100], t[0], t[100], #t)
