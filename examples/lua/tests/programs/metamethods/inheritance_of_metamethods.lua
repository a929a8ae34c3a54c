-- Metamethods are read raw from the metatable: they are not inherited by `__index` of the metatable.
local base = { __add = function() return "added" end, __tostring = function() return "base" end }
local meta = setmetatable({}, { __index = base })
local t = setmetatable({}, meta)
print(pcall(function() return t + 1 end))
print((tostring(t):gsub("0x%x+", "ADDRESS")))
for key, value in pairs(base) do meta[key] = value end
print(t + 1, tostring(t))
-- A class gives its metamethods to subclasses by copying.
local function class(parent)
  local c = {}
  if parent then for k, v in pairs(parent) do if type(k) == "string" and k:match("^__") then c[k] = v end end end
  c.__index = c
  return setmetatable(c, { __index = parent, __call = function(self, ...)
    local object = setmetatable({}, self)
    if object.init then object:init(...) end
    return object
  end })
end
local A = class()
function A:init(v) self.v = v end
A.__add = function(x, y) return x.v + y.v end
local B = class(A)
print(B(2) + B(3), A(1) + B(5), getmetatable(B(1)) == B)
