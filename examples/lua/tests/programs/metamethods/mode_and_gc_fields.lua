local weak = setmetatable({}, { __mode = "k" })
print(getmetatable(weak).__mode)
local meta = { __mode = "v" }
local t = setmetatable({}, meta)
t[1] = {}
t[2] = "texts stay"
t[3] = 5
t.f = true
collectgarbage()
print(t[1], t[2], t[3], t.f)
-- `__gc` of tables is not called in Lua 5.1.
local called = false
do local _ = setmetatable({}, { __gc = function() called = true end }) end
collectgarbage()
print(called)
