local function f(...)
  if ... then return "true", ... end
  return "false", ...
end
print(f()) print(f(nil, 1)) print(f(false)) print(f(1, 2))
local function g(...) local a = ... == 1 local b = ... and "and" or "or" return a, b, not ... end
print(g(1)) print(g(nil)) print(g())
local function arithmetic(...) return ... + 1, -(...), ... * 2 end
print(arithmetic(5, 6)) print(pcall(arithmetic))
local function concat(...) return ... .. "!" end
print(concat("a", "b"))
local function loop(...) for i = 1, ... do io.write(i, " ") end print() end
loop(3, 100)
local function iterate(...) for k, v in ... do io.write(k, v, " ") end print() end
iterate(ipairs({ "a", "b" }))
local function index(...) return (...)[1], ({ ... })[1] end
print(index({ "x" }) == "x")
