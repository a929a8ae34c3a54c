local function make(a, b, ...)
  local rest = { ... }
  return function() a = a + 1 return a, b, #rest, rest[1] end
end
local f = make(1, "b", "r1", "r2")
print(f()) print(f())
local function curry(f, ...)
  local bound, n = { ... }, select("#", ...)
  return function(...)
    local all = { unpack(bound, 1, n) }
    for i = 1, select("#", ...) do all[n + i] = (select(i, ...)) end
    return f(unpack(all, 1, n + select("#", ...)))
  end
end
print(curry(math.max, 5)(3, 9), curry(string.rep, "ab", 3)(), curry(print, 1, nil)(2))
local function compose(...)
  local fs = { ... }
  return function(x) for i = #fs, 1, -1 do x = fs[i](x) end return x end
end
print(compose(tostring, math.sqrt, function(x) return x * x end)(7))
local object = { n = 0 }
function object:adder() return function(k) self.n = self.n + k return self.n end end
local add = object:adder()
print(add(5), add(6), object.n)
