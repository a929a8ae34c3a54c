local function f(x) return type(x) == "table" and not x.f and #x or x end
print(f "a", f 'b', f [[c]], f { 1, 2 }, f {})
print(("%s"):format "x", ("x"):rep(3))
local t = { f = f, g = { f = f } }
print(t.f "d", t.g.f { 1 }, t:f() == t)
