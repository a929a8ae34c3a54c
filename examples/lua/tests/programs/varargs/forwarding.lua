local function pass(...) return ... end
local function count(...) return select("#", ...) end
print(pass(), pass(1), pass(1, 2))
print(count(pass()), count(pass(), pass()), count(pass(nil, nil)), count((pass())))
print(pass(1, nil, nil))
local function both(a, ...) return a, count(...), ... end
print(both()) print(both(1)) print(both(1, nil)) print(both(1, 2, 3))
local function first_last(...) return (...), (select(select("#", ...), ...)) end
print(first_last("a", "b", "c"))
local function nested(...) return (function(...) return ... end)(...) end
print(nested(1, 2, 3))
local function reversed(...)
  local n = select("#", ...)
  if n == 0 then return end
  local t = { ... }
  for i = 1, math.floor(n / 2) do t[i], t[n - i + 1] = t[n - i + 1], t[i] end
  return unpack(t, 1, n)
end
print(reversed(1, nil, 3)) print(reversed()) print(reversed("only"))
print(pass(pass(1, 2), pass(3, 4)))
