-- A level may be one of a function of C, whose environment nobody changes by `setfenv`.
print(pcall(setfenv, 1, {}))
print(pcall(setfenv, 0, getfenv(0)))
print(pcall(setfenv, 1, 1))
print(pcall(setfenv, 1))
print(pcall(setfenv, -1, {}))
print(pcall(setfenv, 100, {}))
print(pcall(getfenv, 10))
print(select(2, pcall(getfenv, 1)) == _G, select(2, pcall(getfenv, 2)) == _G)
print(pcall(module, "x.y"))
print(pcall(module, "x.y", package.seeall))
print(type(x), x and type(x.y), package.loaded["x.y"] == (x and x.y))
print(pcall(module))
print(pcall(module, "string.gsub"))
print(xpcall(function() return setfenv(1, _G) ~= nil end, print))
print(pcall(function() setfenv(2, {}) end))
print(pcall(function() setfenv(1, {}) return 1 end))
print(pcall(function() module("a.b") return x end))
print(xpcall(function() setfenv(2, {}) end, function(message) return "handled: " .. message end))
local t = setmetatable({}, { __index = function() return (select(2, pcall(setfenv, 1, {}))) end })
print(t.x)
print(pcall(string.gsub, "a", "a", function() setfenv(2, {}) end))
print(pcall(string.gsub, "a", "a", function() return setfenv(1, getfenv(1)) and "b" end))
local of_metamethod = setmetatable({}, { __index = setfenv })
print(pcall(function() return of_metamethod[{}] end))
print(xpcall(module, function(message) return "handled: " .. message end))
table.sort({ 1, 2 }, function(a, b)
  print(pcall(setfenv, 1, {}))
  print(pcall(function() setfenv(3, {}) end))
  return a < b
end)
print(coroutine.resume(coroutine.create(function() return pcall(setfenv, 1, {}) end)))
print(coroutine.resume(coroutine.create(function() return select(2, pcall(getfenv, 1)) == _G end)))
local functions = {
  pcall, xpcall, error, next, ipairs, pairs, select, unpack, tostring, dofile, require, load, loadstring, setfenv,
  coroutine.resume, coroutine.yield, coroutine.wrap, coroutine.wrap(function() end), (ipairs({})),
  string.gsub, string.gmatch("a", "b"), table.sort, io.write, math.floor,
}
for i, f in ipairs(functions) do
  print(i, pcall(setfenv, f, {}))
  print(getfenv(f) == _G)
end
-- `debug` may.
local own = {}
for _, f in ipairs({ pcall, print, string.gsub }) do
  local before = debug.getfenv(f)
  print(debug.setfenv(f, own) == f, debug.getfenv(f) == own, getfenv(f) == _G)
  debug.setfenv(f, before)
end
print(pcall(debug.setfenv, 1, {}))
print(pcall(debug.setfenv, {}, {}))
print(pcall(debug.setfenv))
print(pcall(debug.getfenv))
print(debug.getfenv(1), debug.getfenv("x"), debug.getfenv({}))
