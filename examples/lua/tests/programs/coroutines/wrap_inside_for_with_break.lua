local function naturals() return coroutine.wrap(function() local n = 0 while true do n = n + 1 coroutine.yield(n) end end) end
local function take(n, g) return coroutine.wrap(function() for i = 1, n do coroutine.yield(g()) end end) end
local function map(f, g) return coroutine.wrap(function() for v in g do coroutine.yield(f(v)) end end) end
local function keep(p, g) return coroutine.wrap(function() for v in g do if p(v) then coroutine.yield(v) end end end) end
for v in take(5, map(function(x) return x * x end, keep(function(x) return x % 2 == 1 end, naturals()))) do io.write(v, " ") end
print()
for v in naturals() do if v > 3 then break end io.write(v, " ") end
print()
local function zip(f, g) return coroutine.wrap(function() while true do local a, b = f(), g() if a == nil or b == nil then return end coroutine.yield(a, b) end end) end
for a, b in zip(take(3, naturals()), ("xyzw"):gmatch(".")) do io.write(a, b, " ") end
print()
local function primes()
  return coroutine.wrap(function()
    local source = naturals() source()
    while true do
      local p = source()
      coroutine.yield(p)
      local previous = source
      source = keep(function(n) return n % p ~= 0 end, previous)
    end
  end)
end
for p in take(10, primes()) do io.write(p, " ") end
print()
