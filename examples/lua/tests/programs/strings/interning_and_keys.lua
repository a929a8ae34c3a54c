local a = "key" .. 1
local b = ("key1"):sub(1)
local t = {}
t[a] = "first"
t[b] = "second"
print(a == b, t.key1)
t["1"] = "text"
t[1] = "number"
print(t["1"], t[1], t[tostring(1)], t[tonumber("1")])
local long = ("x"):rep(10000)
t[long] = "long"
print(t[("x"):rep(5000) .. ("x"):rep(5000)], t[("x"):rep(9999)])
t["\0"] = "zero" t["\0\0"] = "two zeros" t[""] = "empty"
print(t["\0"], t["\0\0"], t[""])
