x = "global"
local function make(env) return setfenv(function() local function inner() return x end return inner, x end, env) end
local f, g = make({ x = "one" }), make({ x = "two" })
print(f()(), g()(), select(2, f()), select(2, g()))
local inner = f()
setfenv(f, { x = "changed" })
print(inner(), f()())
setfenv(inner, { x = "inner's own" })
print(inner(), f()())
local function nested() return (function() return (function() return x end)() end)() end
print(nested(), setfenv(nested, { x = "for all" })())
local co = coroutine.wrap(setfenv(function() while true do coroutine.yield(x) end end, { x = "in a coroutine", coroutine = coroutine }))
print(co(), co())
local t = {}
for i = 1, 3 do t[i] = setfenv(function() return i, x end, { x = "env " .. i }) end
for i = 1, 3 do print(t[i]()) end
print(getfenv(t[1]).x, getfenv(nested).x, getfenv(print) == _G)
