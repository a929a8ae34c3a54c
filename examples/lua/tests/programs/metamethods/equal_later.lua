-- What makes tables equal comes, goes and comes again while a loop compares them.
local C = {}
C.__index = C
local function new(x) return setmetatable({ x = x }, C) end
local a, b, plain = new(1), new(1), { x = 1 }
local function count(x, y)
  local n = 0
  for i = 1, 500 do
    if x == y then n = n + 1 end
    if x ~= y then n = n + 1000 end
  end
  return n
end
print(count(a, b), count(a, a), count(a, plain), count(plain, {}))
C.__eq = function(p, q) return p.x == q.x end
print(count(a, b), count(a, a), count(a, plain), count(plain, a), count(new(2), b))
C.__eq = nil
print(count(a, b))
rawset(C, "__eq", function() return false end)
print(count(a, b), count(a, a))
C["__" .. "eq"] = function() return 1 end
print(count(a, b))
-- Both have to have the same one.
local D = { __eq = function() return true end }
print(count(a, setmetatable({}, D)), count(setmetatable({}, D), setmetatable({}, D)))
-- New objects each time.
local n = 0
for i = 1, 500 do if new(i) == new(i) then n = n + 1 end if { i } == { i } then n = n + 1 end end
print(n)
