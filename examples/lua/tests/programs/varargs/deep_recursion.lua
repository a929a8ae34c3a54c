local function build(n, ...)
  if n == 0 then return select("#", ...), (select("#", ...) > 0 and (...)) end
  return build(n - 1, n, ...)
end
print(build(0)) print(build(1)) print(build(150))
local function spread(t, i) if i > #t then return end return t[i], spread(t, i + 1) end
local t = {}
for i = 1, 150 do t[i] = i end
print(select("#", spread(t, 1)), (select(150, spread(t, 1))))
local function map(f, x, ...) if x == nil then return end return f(x), map(f, ...) end
print(map(function(v) return v * v end, 1, 2, 3, 4, 5))
local function filter(p, x, ...) if x == nil then return end if p(x) then return x, filter(p, ...) end return filter(p, ...) end
print(filter(function(v) return v % 2 == 0 end, 1, 2, 3, 4, 5, 6))
