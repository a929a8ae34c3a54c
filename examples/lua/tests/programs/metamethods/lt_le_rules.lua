local meta = {}
meta.__lt = function(a, b) return a.v < b.v end
local function new(v, m) return setmetatable({ v = v }, m or meta) end
local a, b = new(1), new(2)
print(a < b, b < a, a > b, b > a)
-- `a <= b` is `not (b < a)` if there is no `__le`.
print(a <= b, b <= a, a >= b, b >= a, a <= a)
meta.__le = function(x, y) return "le is asked" end
print(a <= b, b <= a, a >= b)
meta.__le = function() return nil end
print(a <= b, not (a <= b))
-- Both operands must have the same metamethod.
local other = { __lt = function() return true end }
print(pcall(function() return a < new(2, other) end))
print(pcall(function() return a < 1 end))
print(pcall(function() return 1 < a end))
print(pcall(function() return a < "x" end))
print(pcall(function() return a < {} end))
print(pcall(function() return {} < {} end))
print(pcall(function() return {} <= {} end))
local same = { __lt = meta.__lt }
print(a < new(5, same), new(5, same) < a)
local i = 0
while new(i) < new(3) do i = i + 1 end
print(i, new(1) < new(2) and "yes" or "no")
