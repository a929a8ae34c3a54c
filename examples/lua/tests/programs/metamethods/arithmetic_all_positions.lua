local names = { "add", "sub", "mul", "div", "mod", "pow" }
local meta = {}
for _, name in ipairs(names) do
  meta["__" .. name] = function(a, b)
    local function show(v) return type(v) == "table" and v.name or tostring(v) end
    return name .. "(" .. show(a) .. "," .. show(b) .. ")"
  end
end
meta.__unm = function(a, b) return "unm(" .. a.name .. "," .. tostring(rawequal(a, b)) .. ")" end
local x, y = setmetatable({ name = "x" }, meta), setmetatable({ name = "y" }, meta)
print(x + y, x - y, x * y, x / y, x % y, x ^ y, -x)
print(x + 1, x - 1, x * 1, x / 1, x % 1, x ^ 1)
print(1 + x, 1 - x, 1 * x, 1 / x, 1 % x, 1 ^ x)
print(x + "s", "s" - x, x * nil, true / x, x % print == nil)
local n = 5
print(x + n, n + x, x - n, n ^ x)
print(x + y + x == "add(add(x,y),x)", pcall(function() return x + y + x end))
