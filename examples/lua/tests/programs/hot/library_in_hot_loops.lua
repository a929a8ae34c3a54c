-- Functions of the library that hot code calls directly, with arguments for which it does and for which it does not.
local function count(...) return select("#", ...), ... end
local function show(...)
  local all = {}
  for i = 1, select("#", ...) do all[i] = tostring((select(i, ...))) end
  return table.concat(all, ",")
end

-- What begins loops, and what goes on with them.
local names = {next = next, pairs = pairs, ipairs = ipairs}
for round = 1, 200 do
  local t = {10, 20, x = 1}
  local f, s, c = pairs(t)
  assert(type(f) == "function" and s == t and c == nil)
  local g, u, d = ipairs(t)
  assert(type(g) == "function" and u == t and d == 0)
  local k, v = next(t)
  assert(k == 1 and v == 10)
  k, v = next(t, k)
  assert(k == 2 and v == 20)
  k, v = next(t, k)
  assert(k == "x" and v == 1)
  assert(select("#", next(t, k)) == 1 and next(t, k) == nil and next({}) == nil)
  for name, f in pairs(names) do
    local ok, message = pcall(f, round % 2 == 0 and "text" or nil)
    assert(not ok and message:find("bad argument #1 to '%S+' %(table expected, got "), message)
  end
  local ok, message = pcall(next, t, "unknown")
  assert(not ok and message:find("invalid key to 'next'", 1, true))
end

-- What gives elements.
local lists = {{}, {1}, {1, 2}, {1, nil, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {n = 3}, {[0] = 0, 1}}
local seen = {}
for round = 1, 300 do
  for i, list in ipairs(lists) do
    local n, a, b, c = count(unpack(list))
    seen[i] = show(n, a, b, c)
    local d, e = unpack(list)
    assert(d == a and e == b)
    assert(select("#", unpack(list)) == n and (unpack(list)) == a)
  end
end
print(table.concat(seen, "; "))
print(pcall(unpack), pcall(unpack, "text"))

-- Metatables that are set, changed, protected and asked for.
local meta, other = {}, {}
local locked = setmetatable({}, {__metatable = "locked"})
for round = 1, 300 do
  local t = {}
  assert(getmetatable(t) == nil and setmetatable(t, meta) == t and getmetatable(t) == meta)
  assert(setmetatable(t, other) == t and getmetatable(t) == other)
  assert(setmetatable(t, nil) == t and getmetatable(t) == nil)
  assert(getmetatable(locked) == "locked" and getmetatable("").__index == string and getmetatable(1) == nil)
  local ok, message = pcall(setmetatable, locked, {})
  assert(not ok and message == "cannot change a protected metatable")
  ok, message = pcall(setmetatable, round, {})
  assert(not ok and message == "bad argument #1 to '?' (table expected, got number)", message)
  ok, message = pcall(setmetatable, {}, round)
  assert(not ok and message == "bad argument #2 to '?' (nil or table expected)", message)
end

-- Classes, whose objects find methods as soon as they have their metatable.
local Point = {}
Point.__index = Point
Point.__add = function(a, b) return Point.new(a.x + b.x, a.y + b.y) end
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:length2() return self.x * self.x + self.y * self.y end
local sum = Point.new(0, 0)
for i = 1, 2000 do sum = sum + Point.new(i, -1) end
print(sum:length2())

-- Texts of values.
local texts = {}
for round = 1, 300 do
  for i, value in ipairs({1, -0.5, 1e100, 2^53, "text", true, 0/0 ~= 0/0, 1/0, -1/0, 1e15, 123456789012}) do texts[i] = tostring(value) end
  assert(tostring(nil) == "nil" and tostring(setmetatable({}, {__tostring = function() return "mine" end})) == "mine")
end
print(table.concat(texts, " "))
getmetatable("").__tostring = function(s) return "<" .. s .. ">" end
local marked = 0
for round = 1, 300 do if tostring("a") == "<a>" and tostring(12) == "12" then marked = marked + 1 end end
getmetatable("").__tostring = nil
print(marked, tostring("a"), pcall(tostring))

-- Random numbers.
math.randomseed(5)
local least, most = 10, 0
for round = 1, 3000 do
  local r = math.random(6)
  assert(r >= 1 and r <= 6 and r % 1 == 0)
  local s = math.random(-3, -1)
  assert(s >= -3 and s <= -1)
  least, most = math.min(least, r), math.max(most, r)
end
print(least, most, pcall(math.random, 0), pcall(math.random, 2, 1))

-- Tables that are called: by a closure, a function of the library, another table that is called, and nothing that could be.
local Class = setmetatable({}, {__call = function(class, a, b, c) return a, b, c, class end})
local lowered = setmetatable({}, {__call = function(self, ...) return select("#", ...), ... end})
local library = setmetatable({}, {__call = rawget})
local chain = setmetatable({}, {__call = Class})
library.key = "value"
local total = 0
for i = 1, 3000 do
  local a, b, c, d = Class(i, 2, 3)
  assert(a == i and b == 2 and c == 3 and d == Class)
  assert(Class() == nil and Class(i) == i and select("#", Class(i, i)) == 4)
  total = total + Class(i) + (lowered(1, nil, 3)) + lowered() + (lowered(i, i, i, i))
  assert(library("key") == "value")
end
print(total)
print(pcall(function() return chain(1) end))
print(pcall(function() local none = setmetatable({}, {__call = 1}) return none(1) end))
print(pcall(function() local none = {} none.field(1) end))
local depth = 0
local deep = setmetatable({}, {})
getmetatable(deep).__call = function(self, n) if n == 0 then return 0 end return 1 + self(n - 1) end
print(deep(5000))
print(pcall(setmetatable({}, {__call = function(self, x) error("in a call of " .. x, 0) end}), "a table"))
print(select(2, xpcall(function() return setmetatable({}, {__call = function() return nil .. "x" end})(1) end, function(m) return m end)))
