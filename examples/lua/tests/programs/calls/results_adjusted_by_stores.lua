local function values(n) if n == 0 then return end return n, values(n - 1) end
local t = {}
t.a, t.b, t.c = values(5)
print(t.a, t.b, t.c)
t.a, t.b, t.c = values(1)
print(t.a, t.b, t.c)
x, y = values(3)
print(x, y)
local function set(...) t[1], t[2], t[3] = ... return #t end
print(set("p", "q", "r"))
local p, q, r = (values(3))
print(p, q, r)
for i, v in next, { values(3) } do io.write(i, "=", v, " ") end
print()
t = { [1] = values(3), values(2), n = values(9) }
print(#t, t[1], t[2], t.n)
print(select("#", values(200)), select("#", unpack({ values(200) })))
