local t = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }
for i = #t, 1, -1 do if t[i] % 2 == 0 then table.remove(t, i) end end
print(table.concat(t, " "))
local u = { 1, 2, 3, 4, 5, 6 }
local i = 1
while i <= #u do if u[i] % 3 == 0 then table.remove(u, i) else i = i + 1 end end
print(table.concat(u, " "))
local w = {}
for k = 1, 20 do w["key" .. k] = k end
for key, value in pairs(w) do if value > 5 then w[key] = nil end end
local left = {}
for key in pairs(w) do left[#left + 1] = key end
table.sort(left)
print(table.concat(left, " "))
local n = 0
for key in pairs(w) do w[key] = w[key] + 1 n = n + 1 end
print(n, w.key1, w.key5)
local filtered = {}
for _, v in ipairs({ 3, -1, 4, -1, 5 }) do if v > 0 then filtered[#filtered + 1] = v end end
print(table.concat(filtered, " "))
