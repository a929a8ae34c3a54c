-- An operator has exactly one result.
local m = setmetatable({}, { __add = function() return 1, 2, 3 end, __sub = function() end, __unm = function() return end })
print(m + 1)
print(m - 1)
print(-m)
print((m + 1) + 1, m + 1 + 1)
local t = { m + 1, m - 1, m + 1 }
print(t[1], t[2], t[3])
local function f() return m + 1 end
print(f())
local v = setmetatable({ 3, 4 }, {})
getmetatable(v).__add = function(a, b) return setmetatable({ a[1] + b[1], a[2] + b[2] }, getmetatable(a)) end
getmetatable(v).__mul = function(a, b) if type(a) == "number" then a, b = b, a end
  return setmetatable({ a[1] * b, a[2] * b }, getmetatable(a)) end
getmetatable(v).__tostring = function(a) return "(" .. a[1] .. "," .. a[2] .. ")" end
print(v + v, v * 2, 2 * v, v + v * 10 + 1 * v)
