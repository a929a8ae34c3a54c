local function level1(a)
  local b = a * 2
  return function(c)
    local d = b + c
    return function(e)
      a = a + 1
      return function() b = b + 1 return a, b, c, d, e end
    end
  end
end
local f = level1(1)(10)
local g, h = f("g"), f("h")
print(g()) print(h()) print(g())
local k = level1(100)(5)("k")
print(k())
local function outer()
  local x = "outer"
  local function middle()
    local function inner() x = x .. "+" return x end
    return inner
  end
  return middle()
end
local m, n = outer(), outer()
print(m(), m(), n())
