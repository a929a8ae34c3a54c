-- A function of C has at most 8000 values, its arguments and its results together.
local text = ("x"):rep(20000)
local numbers = { 7990, 7995, 7996, 7997, 7998, 7999, 8000, 8001, 9000, 100000, 1e6, 1e8, 2 ^ 31 - 1, 2 ^ 31, 2 ^ 32 + 5 }
local function shown(is_right, ...)
  if is_right then return "count", select("#", ...) end
  return ...
end
for _, n in ipairs(numbers) do
  print(n, shown(pcall(unpack, {}, 1, n)))
  print(n, shown(pcall(unpack, {}, 1, n, 4, 5)))
  print(n, shown(pcall(function() return unpack({}, 1, n) end)))
  print(n, pcall(function() return #{ unpack({ 1 }, 1, n) } end))
  print(n, pcall(function() return select("#", unpack({}, 1, n)) end))
  print(n, shown(pcall(string.byte, text, 1, n)))
  print(n, shown(pcall(string.byte, text, 1, n, 4, 5)))
  print(n, pcall(function() return select("#", text:byte(1, n)) end))
end
for n = 7990, 8005 do
  local t = {}
  for i = 1, n do t[i] = i end
  print(n, shown(pcall(unpack, t)))
  print(n, shown(pcall(unpack, t, 1)))
  print(n, shown(pcall(function() return unpack(t) end)))
  print(n, pcall(function() return math.max(unpack(t)) end))
  print(n, shown(pcall(unpack, t, -1)))
end
print(shown(pcall(unpack, {}, 2, 1)))
print(shown(pcall(unpack, {}, -10, -1)))
print(shown(pcall(unpack, {}, -7000, 1)))
print(shown(pcall(unpack, {}, -8000, 1)))
print(pcall(string.byte, text, -10000, -1))
print(pcall(string.byte, text, 10, 2 ^ 31 - 1))
local function count(...) return select("#", ...) end
print(pcall(function() return count(unpack({}, 1, 7990)) end))
print(pcall(function() return count(1, 2, 3, unpack({}, 1, 7990)) end))
print(pcall(function() return #string.char(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, text:byte(1, 7997)) end))
