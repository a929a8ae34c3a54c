local t = { a = { b = { c = 1 } } }
t.a.b.c = t.a.b.c + 1
t.a.b["d"] = "new"
t["a"]["b"].e = { 1, 2, 3 }
print(t.a.b.c, t.a.b.d, t.a.b.e[2], #t.a.b.e)
local key = "b"
t.a[key].c = nil
print(t.a.b.c)
local i = 1
local list = {}
i, list[i] = i + 1, 20
print(i, list[1], list[2])
local x, y = { 1 }, { 2 }
x, y = y, x
print(x[1], y[1])
local a = { 1, 2, 3 }
a[1], a[2], a[3] = a[3], a[1], a[2]
print(unpack(a))
t.self = t
print(t.self.self.self.a.b.d)
