-- Environments are not hidden by their metatables.
local env = setmetatable({}, { __fenv = 7, __metatable = "locked" })
local f = setfenv(function() return getfenv(1) end, env)
print(getfenv(f) == env, f() == env, getmetatable(env))
