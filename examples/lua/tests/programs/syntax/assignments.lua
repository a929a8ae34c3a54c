local a, b, c = 1, 2
print(a, b, c)
a, b = b, a
print(a, b)
a, b, c = c, a
print(a, b, c)
local t = {}
t.x, t.y, t["z"] = 1, 2, 3
local i = 1
i, t[i] = 2, "uses the old index"
print(i, t[1], t[2])
g1, g2 = "one"
print(g1, g2)
local p, q = (function() return 1, 2 end)()
print(p, q)
t = { 1, 2 }
t, t[1] = { "new" }, "old table changed"
print(t[1])
local n = { v = 1 }
local m = n
n, n.v = { v = 2 }, 3
print(n.v, m.v)
local k = 1
k = k + 1, error
print(k)
local s = "x"
local s2 = s
s = s .. "y"
print(s, s2)
