-- What C makes an int of has only the lower 32 bits.
local far = { 2 ^ 32, 2 ^ 32 + 1, 2 ^ 32 + 2, -2 ^ 32 - 1, 2 ^ 31, -2 ^ 31, 1e10, 1e300, -1e300, 3 * 2 ^ 32 + 10, 2 ^ 53 }
local function local_of(...) return debug.getlocal(...) end
for i, n in ipairs(far) do
  print(i, n)
  -- C overflows when it counts from the least int.
  if math.abs(n) ~= 2 ^ 31 then print(pcall(unpack, { 1, 2 }, n, 3)) end
  print(pcall(unpack, { 1, 2 }, 1, n - 2 ^ 40))
  print(pcall(select, n, "a", "b"))
  print(pcall(function() error("e", n) end))
  print(pcall(tonumber, "11", n))
  print(pcall(function() return getfenv(n) == _G end))
  print(pcall(function() return setfenv(n, _G) == nil end))
  print(pcall(debug.getupvalue, local_of, n))
  print(pcall(function() local x = 5 return (debug.getinfo(n, "l") or {}).currentline end))
  print(pcall(function() local x = 5 return debug.getlocal(n, 1) end))
  print(pcall(function() local x = 5 return debug.getlocal(1, n) end))
  print(pcall(string.rep, "x", n % 2 ^ 31 % 7 + 2 ^ 32))
end
print(pcall(collectgarbage, "setpause", 2 ^ 32 + 200))
print(collectgarbage("setpause", 2 ^ 40 + 150))
print(collectgarbage("setpause", 200))
print(collectgarbage("setstepmul", 2 ^ 32 * 5 + 200), collectgarbage("setstepmul", 200))
-- A negative level is taken for that of a function which has ended in a tail call.
for _, level in ipairs { -1, -5, -2 ^ 31, 2 ^ 31 } do
  local info = debug.getinfo(level)
  print(info.what, info.short_src, info.source, info.currentline, info.linedefined, info.name, info.namewhat, info.func, info.nups)
end
