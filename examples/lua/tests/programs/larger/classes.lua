-- A small class library: single inheritance, mixins, super calls, class fields.
local function class(name, parent)
  local c = { __name = name, __parent = parent }
  c.__index = c
  if parent then
    for key, value in pairs(parent) do
      if key:sub(1, 2) == "__" and c[key] == nil then c[key] = value end
    end
  end
  c.__tostring = c.__tostring or function(self) return "instance of " .. getmetatable(self).__name end
  return setmetatable(c, {
    __index = parent,
    __call = function(self, ...)
      local object = setmetatable({}, self)
      if self.init then self.init(object, ...) end
      return object
    end,
    __tostring = function(self) return "class " .. self.__name end,
  })
end
local function include(c, mixin) for key, value in pairs(mixin) do c[key] = value end return c end
local function is_a(object, c)
  local k = getmetatable(object)
  while k do if k == c then return true end k = k.__parent end
  return false
end
local Shape = class("Shape")
function Shape:init(name) self.name = name Shape.count = (Shape.count or 0) + 1 end
function Shape:area() return 0 end
function Shape:describe() return ("%s with area %.2f"):format(self.name, self:area()) end
Shape.__eq = function(a, b) return a:area() == b:area() end
Shape.__lt = function(a, b) return a:area() < b:area() end
local Rectangle = class("Rectangle", Shape)
function Rectangle:init(w, h) Shape.init(self, "rectangle") self.w, self.h = w, h end
function Rectangle:area() return self.w * self.h end
local Square = class("Square", Rectangle)
function Square:init(s) Rectangle.init(self, s, s) self.name = "square" end
function Square:describe() return "a " .. Rectangle.describe(self) end
local Circle = class("Circle", Shape)
function Circle:init(r) Shape.init(self, "circle") self.r = r end
function Circle:area() return math.pi * self.r ^ 2 end
Circle.__tostring = function(self) return "(" .. self.r .. ")" end
local shapes = { Rectangle(2, 3), Square(4), Circle(1), Shape("plain"), Rectangle(4, 4) }
table.sort(shapes, function(a, b) return a < b or not (b < a) and a.name < b.name end)
for _, shape in ipairs(shapes) do print(shape, shape:describe()) end
print(Square(3) == Rectangle(9, 1), Square(3) ~= Square(3), Square(2) < Circle(2), Shape.count)
print(Square, is_a(Square(1), Shape), is_a(Circle(1), Rectangle), is_a(Square(1), Square))
include(Square, { double = function(self) return Square(self.w * 2) end })
print(Square(5):double():area(), Rectangle(1, 1).double)
function Shape:scaled(k) return k * self:area() end
print(Square(2):scaled(10), Circle(0):scaled(5))
local sum = 0
for i = 1, 2000 do
  local s = i % 3 == 0 and Square(i) or i % 3 == 1 and Rectangle(i, 2) or Circle(0)
  sum = sum + s:area()
end
print(sum, Shape.count)
