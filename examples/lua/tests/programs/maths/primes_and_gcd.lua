local function gcd(a, b) while b ~= 0 do a, b = b, a % b end return a end
print(gcd(48, 18), gcd(17, 5), gcd(0, 9), gcd(1e15, 5e14))
local function primes(limit)
  local sieve, found = {}, {}
  for i = 2, limit do
    if not sieve[i] then
      found[#found + 1] = i
      for j = i * i, limit, i do sieve[j] = true end
    end
  end
  return found
end
local p = primes(200)
print(#p, table.concat(p, " ", #p - 9))
local function factors(n)
  local list, d = {}, 2
  while d * d <= n do
    while n % d == 0 do list[#list + 1] = d n = n / d end
    d = d + 1
  end
  if n > 1 then list[#list + 1] = n end
  return table.concat(list, "*")
end
print(factors(360), factors(97), factors(1001), factors(2 ^ 20), factors(999983))
local function digits(n) local s = 0 while n > 0 do s = s + n % 10 n = math.floor(n / 10) end return s end
print(digits(12345), digits(2 ^ 40))
