local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
local function nested(n) local c = 0 for i = 1, n do for j = i, n do c = c + (i * j) % 7 end end return c end
local function backwards(n) local s = 0 for i = n, 1, -3 do s = s * 3 % 1000 + i end return s end
for _ = 1, 3 do print(sum(100000), nested(300), backwards(50000)) end
local n, steps = 27, 0
while n ~= 1 do
  if n % 2 == 0 then n = n / 2 else n = 3 * n + 1 end
  steps = steps + 1
end
print(steps)
local i, total = 0, 0
repeat i = i + 1 total = total + i * i until i >= 50000
print(total)
