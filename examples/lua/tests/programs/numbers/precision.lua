print(2 ^ 53 == 2 ^ 53 + 1, 2 ^ 53 - 1 == 2 ^ 53)
print(0.1 + 0.2 == 0.3, 0.5 + 0.25 == 0.75)
print(1e16 + 1 - 1e16, 1e15 + 1 - 1e15)
local sum = 0
for _ = 1, 10 do sum = sum + 0.1 end
print(sum == 1, sum, ("%.17g"):format(sum))
local factorial = 1
for i = 1, 25 do factorial = factorial * i end
print(factorial, ("%.0f"):format(factorial))
print(("%.17g %.17g"):format(1 / 3, 2 / 3))
local x = 1
while 1 + x ~= 1 do x = x / 2 end
print(x == 2 ^ -53)
local n, count = 1, 0
while n < 1 / 0 do n = n * 2 count = count + 1 end
print(count)
