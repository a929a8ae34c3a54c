-- Calls whose last argument is a call: one result nearly always, and then none, or several.
local function all(...) return ... end
local function first(x) return x end
local function two() return 1, 2 end
local function none() end
local function some(n)
  if n == 0 then return end
  if n == 1 then return "one" end
  return "one", "two", n
end

print(select("#", all(none())), select("#", first(none())), (first(two())))
for i = 1, 300 do
  local results = {pcall(function() return math.floor(first(i + 0.5)), tostring(all(i)), all(two()), all(two()) end)}
  if i % 60 == 0 or i > 298 then print(unpack(results)) end
  assert(select("#", all(i % 3 == 0 and none() or two())) == 1)
  assert(select("#", all(some(i % 4))) == math.min(i % 4, 1) + (i % 4 > 1 and 2 or 0))
end

-- As tail calls, of closures and of what is none.
local function count(n, ...)
  if n == 0 then return select("#", ...) end
  return count(n - 1, all(...))
end
print(count(10000), count(10000, 1), count(10000, 1, 2, 3), count(10, nil, nil))
local function down(n) if n == 0 then return "the end" end return down(first(n - 1)) end
print(down(100000))
local function floor(x) return math.floor(first(x)) end
local function largest(...) return math.max(0, 1, 2, 3, all(...)) end
for i = 1, 200 do assert(floor(i + 0.25) == i and largest(i, 5) == math.max(i, 5)) end
print(floor(7.5), largest(-1, -2), pcall(largest, none()))

-- Methods, and tables that are called.
local object = {add = function(self, a, b, c) return a, b, c, select("#", a, b, c) end}
for _ = 1, 100 do object:add(some(1)) end
print(object:add(some(0)))
print(object:add(some(1)))
print(object:add(some(3)))
local callable = setmetatable({}, {__call = function(_, ...) return select("#", ...), ... end})
local function call(...) return callable(all(...)) end
print(callable(1, 2, 3, 4, two()))
print(callable(first(2)))
print(call(), call(nil), call(1, 2, 3, 4, 5))

-- Errors name what was called.
print(pcall(function() local t = {} return t.x(first(1)) end))
print(pcall(function() local t = {} t.x(first(1)) end))
print(pcall(function() local t = {} t:method(none()) end))
print(pcall(function() missing(1, 2, 3, 4, 5, first(1)) end))
print(pcall(function() return first(missing(two())) end))
