local log = {}
local function logger(t, key) log[#log + 1] = tostring(key) return "value of " .. tostring(key) end
local t = setmetatable({ present = 1 }, { __index = logger })
print(t.present, t.absent, t[1], t[true], t["with blank"])
t.absent = "now set"
print(t.absent, table.concat(log, ","))
local base = { inherited = "from base" }
local derived = setmetatable({}, { __index = base })
local leaf = setmetatable({}, { __index = derived })
print(leaf.inherited, derived.inherited, leaf.missing)
base.late = "added later"
print(leaf.late)
leaf.inherited = "own"
print(leaf.inherited, base.inherited)
leaf.inherited = nil
print(leaf.inherited)
print(setmetatable({}, { __index = function() return 1, 2, 3 end }).x)
print(select("#", setmetatable({}, { __index = function() end }).x))
