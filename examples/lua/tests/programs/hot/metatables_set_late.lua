local point = { x = 1 }
local function get(o) return o.y end
local nils = 0
for i = 1, 20000 do if get(point) == nil then nils = nils + 1 end end
print(nils)
setmetatable(point, { __index = { y = "inherited" } })
print(get(point))
getmetatable(point).__index = function(_, k) return "computed " .. k end
print(get(point))
point.y = "own"
print(get(point))
point.y = nil
setmetatable(point, nil)
print(get(point))
local function set(o, v) o.field = v end
local target = {}
for i = 1, 20000 do set(target, i) end
target.field = nil
local stored
setmetatable(target, { __newindex = function(_, k, v) stored = k .. tostring(v) end })
set(target, "after")
print(stored, rawget(target, "field"))
local function equal(a, b) return a == b end
local p, q = {}, {}
local n = 0
for i = 1, 20000 do if equal(p, q) then n = n + 1 end end
local meta = { __eq = function() return true end }
setmetatable(p, meta) setmetatable(q, meta)
print(n, equal(p, q), equal(p, {}), equal(1, "1"))
local function length(v) return #v end
local total = 0
for i = 1, 20000 do total = total + length("four") end
print(total, length({ 1, 2 }), pcall(length, 5))
