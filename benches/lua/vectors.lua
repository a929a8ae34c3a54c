-- Vectors and complex numbers with operators: arithmetic, comparison, length and calls by metatables.
-- longer: 1200000
local n = tonumber(arg[1]) or 140000

local Vector = {}
Vector.__index = Vector

local function vector(x, y, z) return setmetatable({ x = x, y = y, z = z }, Vector) end

Vector.__add = function(a, b) return vector(a.x + b.x, a.y + b.y, a.z + b.z) end
Vector.__sub = function(a, b) return vector(a.x - b.x, a.y - b.y, a.z - b.z) end
Vector.__unm = function(a) return vector(-a.x, -a.y, -a.z) end
Vector.__mul = function(a, b)
  if type(a) == "number" then return vector(a * b.x, a * b.y, a * b.z) end
  if type(b) == "number" then return vector(a.x * b, a.y * b, a.z * b) end
  return a.x * b.x + a.y * b.y + a.z * b.z
end
Vector.__div = function(a, by) return vector(a.x / by, a.y / by, a.z / by) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y and a.z == b.z end
Vector.__lt = function(a, b) return a * a < b * b end
Vector.__le = function(a, b) return a * a <= b * b end
Vector.__call = function(a, axis) return a[axis] end

function Vector:cross(b)
  return vector(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x)
end

local Complex = {}
Complex.__index = Complex

local function complex(re, im) return setmetatable({ re = re, im = im }, Complex) end

Complex.__add = function(a, b) return complex(a.re + b.re, a.im + b.im) end
Complex.__mul = function(a, b) return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re) end
Complex.__pow = function(a, power)
  local result = complex(1, 0)
  for _ = 1, power do result = result * a end
  return result
end
Complex.__concat = function(a, b) return tostring(a.re) .. tostring(b) end

local at, speed, pull = vector(1, 0, 0), vector(0, 1, 0.5), nil
local smaller, same, turns = 0, 0, complex(1, 0)
local turn = complex(0.6, 0.8)
for i = 1, n do
  pull = -at / (at * at)
  speed = speed + 0.01 * pull
  local next = at + speed * 0.01
  if next < at then smaller = smaller + 1 end
  if next <= at and next ~= at then smaller = smaller + 1 end
  if next - speed * 0.01 == at then same = same + 1 end
  at = next
  if i % 8 == 0 then turns = turns * turn ^ 3 + complex(0, 0) end
end
local spin = at:cross(speed)
local sum = string.format("%.6f %.6f %.4f %d %d", spin("z"), turns.re, turns.im, smaller, same)
print("vectors " .. n .. " " .. sum)
assert(n ~= 140000 or sum == "1.000000 0.637779 0.7702 139814 134943")
