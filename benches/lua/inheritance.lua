-- Classes with long chains of inheritance: methods that are found far above, overridden ones, calls of the one above, and mixins.
-- longer: 1000000
local n = tonumber(arg[1]) or 140000

local function class(base)
  local it = { base = base }
  it.__index = it
  function it.new(...)
    local object = setmetatable({}, it)
    object:init(...)
    return object
  end
  return setmetatable(it, { __index = base })
end

local Shape = class(nil)
function Shape:init(name) self.name, self.scale = name, 1 end
function Shape:area() return 0 end
function Shape:scaled() return self:area() * self.scale * self.scale end
function Shape:grow(by)
  self.scale = self.scale + by
  return self
end

local Polygon = class(Shape)
function Polygon:init(name, sides)
  Shape.init(self, name)
  self.sides = sides
end
function Polygon:perimeter() return self.sides * self:side() end

local Rectangle = class(Polygon)
function Rectangle:init(width, height)
  Polygon.init(self, "rectangle", 4)
  self.width, self.height = width, height
end
function Rectangle:area() return self.width * self.height end
function Rectangle:side() return (self.width + self.height) / 2 end

local Square = class(Rectangle)
function Square:init(width) Rectangle.init(self, width, width) end

local Circle = class(Shape)
function Circle:init(radius)
  Shape.init(self, "circle")
  self.radius = radius
end
function Circle:area() return 3 * self.radius * self.radius end
function Circle:perimeter() return 6 * self.radius end

local Colored = {}
function Colored:paint(color)
  self.color = color
  return self
end
function Colored:describe() return self.name .. self.color end

local Tile = class(Square)
for name, method in pairs(Colored) do Tile[name] = method end
function Tile:area() return Square.area(self) + 1 end

local COLORS = { "red", "green", "blue" }
local sum = 0
for i = 1, n do
  local tile = Tile.new(i % 10):paint(COLORS[i % 3 + 1])
  local shapes = { Rectangle.new(i % 7, 3), Square.new(i % 5), Circle.new(i % 4), tile }
  for _, shape in ipairs(shapes) do
    sum = sum + shape:grow(1):scaled() + shape:perimeter()
  end
  sum = (sum + #tile:describe()) % 1000003
end
sum = string.format("%d", sum)
print("inheritance " .. n .. " " .. sum)
assert(n ~= 140000 or sum == "199884")
