local function all(a, b)
  print(a + b, a - b, a * b, a / b, a % b, a ^ b, -a)
end
all(7, 2) all(-7, 2) all(0.5, 0.25) all(1e10, 3) all(2, -2) all(10, 10)
local a, b, c = 5, 3, 2
print(a + 1, 1 + a, a - 1, 1 - a, a * 2, 2 * a, a / 2, 2 / a, a % 3, 3 % a, a ^ 2, 2 ^ a)
print(a + b * c, (a + b) * c, a - b - c, a - (b - c), a / b / c == a / (b * c), a ^ b ^ 0)
local i = 0
i = i + 1 i = i * 10 i = i - 3 i = i / 2 i = i ^ 2
print(i)
local t = { n = 1 }
t.n = t.n + 1
t.n = t.n * t.n
print(t.n)
