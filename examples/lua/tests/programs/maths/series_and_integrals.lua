local function show(x) print(("%.9f"):format(x)) end
local pi = 0
for k = 0, 9999 do pi = pi + (k % 2 == 0 and 4 or -4) / (2 * k + 1) end
show(pi)
local e, term = 1, 1
for k = 1, 20 do term = term / k e = e + term end
show(e)
local function integrate(f, a, b, n)
  local h, sum = (b - a) / n, f(a) + f(b)
  for i = 1, n - 1 do sum = sum + f(a + i * h) * (i % 2 == 0 and 2 or 4) end
  return sum * h / 3
end
show(integrate(math.sin, 0, math.pi, 1000))
show(integrate(function(x) return x * x end, 0, 3, 100))
local function newton(f, derivative, x) for _ = 1, 50 do x = x - f(x) / derivative(x) end return x end
show(newton(function(x) return x * x - 2 end, function(x) return 2 * x end, 1))
local function bisect(f, low, high) for _ = 1, 60 do local m = (low + high) / 2 if f(m) > 0 then high = m else low = m end end return low end
show(bisect(function(x) return x ^ 3 - x - 2 end, 1, 2))
local harmonic = 0
for i = 1, 10000 do harmonic = harmonic + 1 / i end
show(harmonic - math.log(10000))
local a, g = 1, 1 / math.sqrt(2)
for _ = 1, 5 do a, g = (a + g) / 2, math.sqrt(a * g) end
show(a)
local mean, m2, n = 0, 0, 0
for _, x in ipairs({ 2, 4, 4, 4, 5, 5, 7, 9 }) do n = n + 1 local d = x - mean mean = mean + d / n m2 = m2 + d * (x - mean) end
print(mean, math.sqrt(m2 / n))
