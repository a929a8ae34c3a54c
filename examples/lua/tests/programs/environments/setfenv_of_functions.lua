local function f() return x end
x = "global"
print(f())
print(setfenv(f, { x = "own" }) == f, f())
print(getfenv(f).x, getfenv(f) == _G)
setfenv(f, _G)
print(f())
local env = setmetatable({}, { __index = _G })
local function g() y = 5 print("inside", y) return y end
setfenv(g, env)
print(g(), y, env.y, rawget(_G, "y"))
-- A function takes the environment of the function that makes it.
local function maker() return function() return z end end
setfenv(maker, { z = "made here" })
local made = maker()
setfenv(maker, { z = "changed later" })
print(made(), maker()())
print(pcall(setfenv, print, {}))
print(pcall(setfenv, f, 1))
print(pcall(setfenv, "x", {}))
print(pcall(setfenv))
