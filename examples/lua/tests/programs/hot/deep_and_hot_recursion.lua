local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(24))
local function tak(x, y, z) if y >= x then return z end return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) end
print(tak(12, 8, 4))
local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
local total = 0
for i = 1, 20 do total = total + depth(1000) end
print(total, depth(15000))
local moves = 0
local function hanoi(n, from, to, via) if n == 0 then return end hanoi(n - 1, from, via, to) moves = moves + 1 hanoi(n - 1, via, to, from) end
hanoi(14, "a", "b", "c")
print(moves)
local function gcd(a, b) if b == 0 then return a end return gcd(b, a % b) end
local s = 0
for i = 1, 5000 do s = s + gcd(i * 12, 360) end
print(s)
local function overflow() return 1 + overflow() end
for i = 1, 3 do print((pcall(overflow))) end
print(fib(20))
