local t = {}
for i = 1, 20000 do t[i] = i % 10 end
local function sum(list) local s = 0 for i = 1, #list do s = s + list[i] end return s end
for _ = 1, 5 do io.write(sum(t), " ") end
print()
t[10000] = "7"
print(sum(t))
t[10000] = 1.5
print(sum(t))
t[10000] = nil
t[10000] = 0
print(sum(t), #t)
print(pcall(sum, { 1, 2, {}, 4 }))
print(sum(setmetatable({ 1, 2, 3 }, { __index = function() return 100 end })))
local function reverse(list) local n = #list for i = 1, math.floor(n / 2) do list[i], list[n - i + 1] = list[n - i + 1], list[i] end return list end
for _ = 1, 3 do reverse(t) end
print(t[1], t[2], t[20000], sum(t))
local function get(list, i) return list[i] end
for i = 1, 20000 do get(t, i) end
print(get(t, 0), get(t, -1), get(t, 20001), get(t, 1.5), get(t, "x"), get(t, "1"), get(t, nil), get(t, 0 / 0), get("abc", 1))
local function set(list, i, v) list[i] = v end
local u = {}
for i = 1, 20000 do set(u, i, i) end
set(u, 0, "zero") set(u, -5, "minus") set(u, 1.5, "half") set(u, "k", "key") set(u, 30000, "far")
print(#u, u[0], u[-5], u[1.5], u.k, u[30000], pcall(set, u, nil, 1))
