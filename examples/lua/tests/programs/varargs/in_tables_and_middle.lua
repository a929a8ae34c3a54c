local function f(...)
  local t = { ... }
  local u = { ..., "last" }
  local v = { "first", ... }
  local w = { (...) }
  return #t, #u, #v, #w
end
print(f("x")) print(f(1, 2, 3))
local function g(...)
  local a, b, c = ...
  local d, e = "fixed", ...
  local x = (...)
  return a, b, c, d, e, x
end
print(g()) print(g(1)) print(g(1, 2, 3, 4))
local function h(...) return ..., "end" end
print(h(1, 2, 3)) print(h())
local function many(n, ...) if n == 0 then return ... end return many(n - 1, n, ...) end
print(many(10))
print(select("#", many(200)))
local function sum(...) local s = 0 for _, v in ipairs({ ... }) do s = s + v end return s end
print(sum(many(100)))
