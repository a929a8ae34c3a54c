-- Tables that are called again and again, in place of functions: what a call knows of them changes while it runs.
local function class(base)
  local made = {}
  made.__index = made
  return setmetatable(made, {
    __index = base,
    __call = function(of, ...)
      local object = setmetatable({}, of)
      if of.init then of.init(object, ...) end
      return object
    end,
  })
end
local Point = class()
function Point:init(x, y) self.x, self.y = x, y end
function Point:sum() return self.x + (self.y or 0) end
local Point3 = class(Point)
function Point3:init(x, y, z)
  Point.init(self, x, y)
  self.z = z
end
function Point3:sum() return Point.sum(self) + self.z end
local Empty = class()

local function total(of, n)
  local sum = 0
  for i = 1, n do sum = sum + of(i, 2 * i, 3 * i):sum() end
  return sum
end
print(total(Point, 300), total(Point3, 300), total(Point, 300), Empty().x)

-- Any number of arguments, results that are kept, and calls that end functions.
local counter = setmetatable({ n = 0 }, {
  __call = function(self, ...)
    self.n = self.n + select("#", ...)
    return self.n, ...
  end,
})
local function none() return counter() end
local function one(a) return counter(a) end
local function two(a, b) return counter(a, b) end
local function three(a, b, c) return counter(a, b, c) end
local function many(a, b, c, d) return counter(a, b, c, d, a) end
for i = 1, 150 do
  none() one(i) two(i, i) three(i, i, i) many(i, i, i, i)
  local n, a, b = counter(i, nil)
  if i % 50 == 0 then print(n, a, b, counter(), (counter(1, 2)), none(), one(1), two(1, 2), three(1, 2, 3), many(1, 2, 3, 4)) end
end

-- What is called becomes another one: another function of the same text, another text, no function, a function of the library, a table
-- that is called itself; the metatable changes its keys, and goes.
local meta = {}
local called = setmetatable({}, meta)
local function adds(k) return function(self, a) return a + k, self == called end end
local function use(n)
  local sum, is_same = 0
  for i = 1, n do
    local value, same = called(i)
    sum, is_same = sum + value, same
  end
  return sum, is_same
end
meta.__call = adds(1)
print(use(200))
meta.__call = adds(2)
print(use(200))
meta.__call = function(self, a) return a * 3, "another" end
print(use(200))
meta.__call = adds(2)
print(use(200))
meta.other, meta.more = 1, 2
print(use(200))
meta.__call = function(self, a) return a * 2, "other" end
print(use(200))
meta.__call = nil
print(pcall(use, 3))
meta.__call = rawequal
print(pcall(use, 3))
meta.__call = setmetatable({}, { __call = adds(3) })
print(pcall(use, 3))
meta.__call = adds(4)
print(use(200))
setmetatable(called, nil)
print(pcall(use, 3))
setmetatable(called, { __call = adds(5) })
print(use(200))
setmetatable(called, setmetatable({}, { __index = { __call = adds(6) } }))
print(pcall(use, 3))

-- Functions and tables from one place, and what cannot be called there.
local function apply(f, n)
  local sum = 0
  for i = 1, n do sum = sum + f(i, 1) end
  return sum
end
local callable = setmetatable({}, { __call = function(_, a, b) return a - b end })
for round = 1, 3 do
  print(apply(function(a, b) return a + b end, 100), apply(callable, 100), apply(math.max, 100), apply(setmetatable({}, getmetatable(callable)), 100))
  for _, wrong in ipairs({ {}, 5, "text", false }) do print(select(2, pcall(apply, wrong, 1))) end
  print(select(2, pcall(apply, nil, 1)))
end
local failing = setmetatable({}, { __call = function(_, n) if n > 90 then error("at " .. n) end return n end })
print(pcall(apply, failing, 100))
print(select(2, xpcall(function() return apply(failing, 100) + 1 end, debug.traceback)))
