local t = {}
for i = 20, 1, -1 do t[i] = i end
t[22] = 22 t[24] = 24
local n = 0
for key, value in pairs(t) do n = n + key * value end
print(n)
t[21] = 21 t[23] = 23
print(#t)
local sparse = {}
for i = 1, 20 do sparse[2 ^ i] = i end
local sum = 0
for key, value in pairs(sparse) do sum = sum + key + value end
print(sum, sparse[1024], sparse[1048576])
local mixed = { 1, 2, 3, [100] = "hundred", x = "y" }
mixed[4] = 4
print(#mixed, mixed[100], mixed.x)
