local Complex = {}
Complex.__index = Complex
local function complex(re, im) return setmetatable({ re = re, im = im or 0 }, Complex) end
local function lift(x) return type(x) == "number" and complex(x) or x end
Complex.__add = function(a, b) a, b = lift(a), lift(b) return complex(a.re + b.re, a.im + b.im) end
Complex.__sub = function(a, b) a, b = lift(a), lift(b) return complex(a.re - b.re, a.im - b.im) end
Complex.__mul = function(a, b) a, b = lift(a), lift(b) return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re) end
Complex.__div = function(a, b)
  a, b = lift(a), lift(b)
  local d = b.re ^ 2 + b.im ^ 2
  return complex((a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d)
end
Complex.__unm = function(a) return complex(-a.re, -a.im) end
Complex.__eq = function(a, b) return a.re == b.re and a.im == b.im end
Complex.__tostring = function(a) return ("%g%+gi"):format(a.re, a.im) end
local i = complex(0, 1)
print(i * i, 1 + i, (1 + i) * (1 - i), (3 + 4 * i) / (1 + 2 * i), -i, i - 1, 2 / i)
print(i * i == complex(-1), i == 1, complex(1) == complex(1, 0))
local function gcd(a, b) while b ~= 0 do a, b = b, a % b end return a end
local Ratio = {}
local function ratio(n, d) d = d or 1 local g = gcd(math.abs(n), math.abs(d)) if d < 0 then g = -g end return setmetatable({ n = n / g, d = d / g }, Ratio) end
local function R(x) return type(x) == "number" and ratio(x) or x end
Ratio.__add = function(a, b) a, b = R(a), R(b) return ratio(a.n * b.d + b.n * a.d, a.d * b.d) end
Ratio.__sub = function(a, b) return a + -R(b) end
Ratio.__mul = function(a, b) a, b = R(a), R(b) return ratio(a.n * b.n, a.d * b.d) end
Ratio.__div = function(a, b) a, b = R(a), R(b) return ratio(a.n * b.d, a.d * b.n) end
Ratio.__unm = function(a) return ratio(-a.n, a.d) end
Ratio.__lt = function(a, b) return a.n * b.d < b.n * a.d end
Ratio.__eq = function(a, b) return a.n == b.n and a.d == b.d end
Ratio.__pow = function(a, k) local r = ratio(1) for _ = 1, k do r = r * a end return r end
Ratio.__tostring = function(a) return a.d == 1 and tostring(a.n) or a.n .. "/" .. a.d end
local half, third = ratio(1, 2), ratio(1, 3)
print(half + third, half - third, half * third, half / third, half ^ 10, -half, 1 + half, 2 * third, 1 / third)
print(half < third, third < half, half <= half, half == ratio(2, 4), half >= third)
local sum = ratio(0)
for k = 1, 15 do sum = sum + ratio(1, k) end
print(sum)
