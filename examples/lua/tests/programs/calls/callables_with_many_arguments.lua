-- What has a `__call` and gets many arguments: closures, varargs, library functions, and what changes while it is called.
local log = {}
local C = setmetatable({}, {__call = function(self, a, b, c, d, e) return a, b, c, d, e end})
local V = setmetatable({}, {__call = function(self, ...) return select("#", ...), ... end})
local N = setmetatable({}, {__call = V})
local S = setmetatable({}, {__call = string.format})
local function run(f, n)
  local t = {}
  for i = 1, n do
    local a, b, c, d = f(i, i + 1, i + 2, i + 3)
    t[#t + 1] = tostring(a) .. tostring(b) .. tostring(c) .. tostring(d)
    local x = f(i, 2, 3, 4, 5, 6, 7)
    t[#t + 1] = tostring(x)
  end
  return table.concat(t, " ", n)
end
for k = 1, 4 do
  print(#run(C, 200), run(C, 3), run(V, 3))
  print(pcall(run, N, 3))
  print(pcall(run, S, 3))
  print(pcall(run, setmetatable({}, {}), 3))
  print(pcall(run, {}, 3))
end
local fs = {C, V, run and function(...) return ... end, C}
for i = 1, 300 do local f = fs[i % 4 + 1]; log[#log + 1] = tostring((f(1, 2, 3, i))) end
print(table.concat(log, ","))
local mt = {__call = function(self, a, b, c, d) return "one" .. d end}
local o = setmetatable({}, mt)
local out = {}
for i = 1, 400 do
  if i == 200 then mt.__call = function(self, a, b, c, d, ...) return "two" .. d .. select("#", ...) end end
  if i == 300 then mt.__call = math.max end
  if i == 302 then mt.__call = C end
  local ok, v = pcall(function() return (o(1, 2, 3, i)) end)
  out[#out + 1] = tostring(v)
end
print(table.concat(out, ","))
local deep = setmetatable({}, {})
getmetatable(deep).__call = function(self, n, a, b, c) if n == 0 then return 0 end return 1 + self(n - 1, a, b, c) end
print(deep(3000, 1, 2, 3))
local function tail(n, a, b, c) if n == 0 then return a + b + c end return deep and C(n, a, b, c) end
print(tail(5, 1, 2, 3))
print(pcall(function() return deep(1e7, 1, 2, 3) end))
