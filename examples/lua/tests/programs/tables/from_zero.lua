-- Tables whose first key is 0: it stands beside the elements, but belongs neither to the length nor to what unpack and ipairs give.
local t = {}
print(t[0], #t)
t[0] = "zero"
print(t[0], #t, next(t))
for i = 1, 20 do t[i] = i end
print(t[0], #t, t[20], t[21])
for i = 1, 20 do t[i] = nil end
print(#t, next(t), t[0])
t[0] = nil
print(next(t), t[-0], t[-1])
t[-0] = 5 print(t[0], rawget(t, 0), t[1 - 1])
local u = { [0] = "a", "b", "c", x = 1, [5] = 7 }
local s = {}
for k, v in pairs(u) do s[#s + 1] = tostring(k) .. "=" .. tostring(v) end
table.sort(s) print(table.concat(s, " "))
for i, v in ipairs(u) do io.write(i, v, " ") end print()
local m = setmetatable({}, { __index = function(_, k) return "i" .. k end, __newindex = function(t, k, v) rawset(t, k, v .. "!") end })
print(m[0], m[1]) m[0] = "x" m[1] = "y" print(m[0], m[1])
local w = setmetatable({ [0] = {} , {} }, { __mode = "v" })
collectgarbage() collectgarbage() print(w[0], w[1])
local sum = 0
for r = 1, 200 do local a = {} for i = 0, 300 do a[i] = i end for i = 0, 300 do sum = sum + a[i] end for i = 300, 0, -1 do a[i] = nil end sum = sum + (next(a) == nil and 1 or 1e9) end
print(sum)
local a = {} for i = 20, 0, -1 do a[i] = i end print(#a, a[0])
for k in pairs(a) do a[k] = nil end print(next(a))
print(select('#', unpack({ [0] = 1, 2, 3 })), table.maxn({ [0] = 3 }), #{ [0] = 1 }, table.getn { [0] = 1, 2 })
table.insert(a, 0 + 1) a[0] = 9 print(a[0], #a, table.remove(a), #a, table.remove(a), a[0])
local ok, e = pcall(function() for k in next, a, 77 do end end) print(ok)
