-- Operators on objects in loops: of both operands, of numbers in front and behind, and metamethods that change.
local V = {}
V.__index = V
local function new(x, y) return setmetatable({x = x, y = y}, V) end
V.__add = function(a, b) return new(a.x + b.x, a.y + b.y) end
V.__sub = function(a, b) return new(a.x - b.x, a.y - b.y) end
V.__mul = function(a, b)
  if type(a) == "number" then return new(a * b.x, a * b.y) end
  if type(b) == "number" then return new(a.x * b, a.y * b) end
  return a.x * b.x + a.y * b.y
end
V.__div = function(a, b) return new(a.x / b, a.y / b) end
V.__mod = function(a, b) return new(a.x % b, a.y % b) end
V.__pow = function(a, b) return new(a.x ^ b, a.y ^ b) end
V.__unm = function(a) return new(-a.x, -a.y) end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end
V.__lt = function(a, b) return a.x < b.x end
V.__le = function(a, b) return a.x <= b.x end
V.__concat = function(a, b) return tostring(a) .. "|" .. tostring(b) end
V.__tostring = function(a) return "(" .. a.x .. "," .. a.y .. ")" end
local W = setmetatable({}, {__index = V})
W.__index = W
for k, v in pairs(V) do if k ~= "__index" then W[k] = v end end
local function run(n, a, b, c)
  local s, less, equal = new(0, 0), 0, 0
  for i = 1, n do
    local d = a + b - c
    d = 2 * d + d * 3 + (-d) / 2
    d = d % 17 + d ^ 2
    local p = a * d
    s = (s + d + new(p, i)) % 1000
    if a < d then less = less + 1 end
    if d <= b then less = less + 10 end
    if a ~= d then equal = equal + 1 end
    if a == new(a.x, a.y) then equal = equal + 10 end
  end
  return s, less, equal
end
for i = 1, 3 do print(tostring(run(200, new(1, 2), new(3, 4), new(i, 5)))) end
print(select(2, run(200, new(1, 2), new(3, 4), new(5, 5))))
local function w(x, y) return setmetatable({x = x, y = y}, W) end
print(tostring(run(100, w(1, 2), w(3, 4), w(7, 5))))
local keep = V.__add
V.__add = function(a, b) return new(a.x + b.x + 1, a.y + b.y + 1) end
print(tostring(run(100, new(1, 2), new(3, 4), new(5, 5))))
V.__add = nil
print(pcall(run, 3, new(1, 2), new(3, 4), new(5, 5)))
V.__add = print
print(pcall(run, 3, new(1, 2), new(3, 4), new(5, 5)))
V.__add = keep
print(tostring(run(100, new(1, 2), new(3, 4), new(5, 5))))
local ok, e = pcall(function() return new(1, 2) < 3 end) print(e)
ok, e = pcall(function() return 3 <= new(1, 2) end) print(e)
ok, e = pcall(function() local a, b = new(1, 2), {} return a < b end) print(e)
-- Objects that share a method for comparisons, and some that do not.
local function compare(list, n)
  local less, same = 0, 0
  for i = 1, n do
    local a, b = list[i % #list + 1], list[(i * 7) % #list + 1]
    local ok, is = pcall(function() return a < b end)
    if not ok then less = less + 1000 elseif is then less = less + 1 end
    if a == b then same = same + 1 end
  end
  return less, same
end
local M = {__lt = function(a, b) return a[1] < b[1] end, __eq = function(a, b) return a[1] == b[1] end}
local N = {__lt = function(a, b) return a[1] > b[1] end, __eq = function(a, b) return true end}
local list = {}
for i = 1, 10 do list[i] = setmetatable({i % 4}, M) end
print(compare(list, 300))
for i = 1, 10, 3 do list[i] = setmetatable({i % 4}, N) end
print(compare(list, 300))
N.__lt = M.__lt
print(compare(list, 300))
M.__eq, N.__eq = nil, nil
print(compare(list, 300))
-- Both orders of a number and an object at one place, and strings that are numbers.
local function scaled(a, b) return a * b end
local S = {__mul = function(a, b) return type(a) .. " by " .. type(b) end}
local s = setmetatable({}, S)
local seen = {}
for i = 1, 400 do
  local pair = ({{s, 2}, {2, s}, {s, s}, {"3", s}, {3, "4"}, {s, "x"}, {5, 6}})[i % 7 + 1]
  seen[i % 7 + 1] = scaled(pair[1], pair[2])
end
print(unpack(seen))
-- A metatable that does not keep its metamethods.
local weak = setmetatable({}, {__mode = "v"})
local hold
do
  local held = "added"
  hold = function() return held end
  weak.__add = hold
end
local a = setmetatable({1}, weak)
local function add(n) local last for i = 1, n do last = a + i end return last end
for _ = 1, 5 do print(pcall(add, 100)) if _ == 3 then hold = nil collectgarbage() collectgarbage() end end
