local function mix(n)
  local a, b, c = 0, 0.5, 1
  for i = 1, n do
    a = a + i
    b = b + i / 3
    c = c * 1.0001
    if c > 2 then c = c - 1 end
  end
  return a, ("%.6f"):format(b), ("%.6f"):format(c)
end
print(mix(10000)) print(mix(10000))
local function overflow(n) local x = 1 for i = 1, n do x = x * 2 end return x end
print(overflow(31), overflow(32), overflow(52), overflow(53), overflow(54), overflow(63), overflow(64), overflow(1024))
local function shrink(n) local x = 1 for i = 1, n do x = x / 2 end return x end
print(shrink(10), shrink(1074), shrink(1075))
local x = 2147483640
for i = 1, 20 do x = x + 1 end
print(x)
x = -2147483640
for i = 1, 20 do x = x - 1 end
print(x)
local p = 1
for i = 1, 15 do p = p * i end
print(p, p * p, -p)
local z = 0
for i = 1, 1000 do z = -z end
print(1 / z)
local m = 5
for i = 1, 1001 do m = -m end
print(m, m % 3, -m % 3, m % -3)
local idiv = 0
for i = -5000, 5000 do idiv = idiv + math.floor(i / 7) + i % 7 end
print(idiv)
for _, v in ipairs({ 2 ^ 31, 2 ^ 32, 2 ^ 53, -2 ^ 31 - 1 }) do local t = {} t[v] = "big" print(t[v], v + 1 > v, v % 10, math.floor(v / 3)) end
