-- The numbers of Fibonacci by two recursive calls each.
-- longer: 38
local n = tonumber(arg[1]) or 34

local function fib(i)
  if i < 2 then return i end
  return fib(i - 1) + fib(i - 2)
end

local sum = fib(n)
print("fib " .. n .. " " .. sum)
assert(n ~= 34 or sum == 5702887)
