local meta = {}
local t = setmetatable({}, meta)
print(t.x, pcall(function() return t + 1 end))
meta.__index = { x = "table" }
print(t.x)
meta.__index = function(_, k) return "function " .. k end
print(t.x)
meta.__add = function() return "add" end
print(t + 1)
meta.__add = nil
print(pcall(function() return t + 1 end))
meta.__index = nil
print(t.x)
local function read(object) return object.field end
local kinds = { { field = 1 }, setmetatable({}, { __index = { field = 2 } }),
  setmetatable({}, { __index = function() return 3 end }) }
for round = 1, 3 do for _, kind in ipairs(kinds) do io.write(read(kind), " ") end end
print()
setmetatable(kinds[1], { __index = function() return "new" end })
kinds[1].field = nil
print(read(kinds[1]))
meta.__newindex = function(_, k, v) rawset(t, k, v .. "!") end
t.a = "set"
meta.__newindex = nil
t.b = "set"
print(t.a, t.b)
