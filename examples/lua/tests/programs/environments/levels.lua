local function at(level) return getfenv(level) end
print(at(1) == _G, getfenv() == _G, getfenv(0) == _G, getfenv(1) == getfenv())
local function own()
  setfenv(1, { getfenv = getfenv, name = "own" })
  return name, getfenv(1).name, getfenv().name
end
print(own())
local function sets_caller() setfenv(2, setmetatable({ where = "caller's" }, { __index = _G })) end
local function caller() sets_caller() return where end
print(caller(), where)
print(pcall(getfenv, -1))
print(pcall(getfenv, 50))
print(pcall(setfenv, 50, {}))
print(pcall(setfenv, -1, {}))
print(pcall(getfenv, "x"))
print(pcall(getfenv, {}))
print(getfenv(print) == _G, type(getfenv(2)))
local co = coroutine.create(function() setfenv(0, { marker = 1 }) return getfenv(0).marker, getfenv(1) == _G end)
print(coroutine.resume(co))
print(getfenv(0) == _G)
