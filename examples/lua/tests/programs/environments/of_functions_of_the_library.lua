-- Functions of the library have no environment of their own, whatever they are made of.
local env = setmetatable({}, { __index = _G })
for _, name in ipairs { "pcall", "xpcall", "print", "error", "getfenv", "coroutine.yield", "coroutine.resume", "string.rep", "table.sort" } do
  local f = loadstring("return " .. name)()
  print(name, pcall(setfenv, f, env))
  print(getfenv(f) == _G)
end
print(pcall(setfenv, coroutine.wrap(function() end), env))
-- A level may be one of them.
print(pcall(function() local x = setfenv(2, env) return x end))
print(xpcall(function() local x = setfenv(2, env) return x end, function(e) return e end))
table.sort({ 2, 1 }, function(a, b) print(pcall(setfenv, 1, env)) return a < b end)
print((string.gsub("a", "a", function() return tostring(getfenv(2) == _G) end)))
print(pcall(function() return getfenv(2) == _G end))
