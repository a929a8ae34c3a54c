local t = {}
print(setmetatable(t, { __index = { a = 1 } }) == t, t.a)
setmetatable(t, { __index = { a = 2 } })
print(t.a)
setmetatable(t, nil)
print(t.a)
local m = {}
m.__index = m
m.__metatable = nil
local a, b = setmetatable({}, m), setmetatable({}, m)
m.value = "shared"
print(a.value, b.value, rawget(a, "value"), getmetatable(a) == getmetatable(b))
a.value = "own"
print(a.value, b.value, m.value)
setmetatable(m, m)
print(pcall(function() return m.nothing_here end))
