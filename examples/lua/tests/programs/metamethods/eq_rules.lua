local calls = 0
local function eq(a, b) calls = calls + 1 return a.v == b.v end
local m1, m2 = { __eq = eq }, { __eq = eq }
local m3 = { __eq = function() return true end }
local function new(v, meta) return setmetatable({ v = v }, meta) end
local a, b, c = new(1, m1), new(1, m1), new(2, m1)
print(a == b, a == c, a ~= b, a ~= c, calls)
print(a == a, calls)
print(a == new(1, m2), calls)
print(a == new(1, m3), calls)
print(a == { v = 1 }, { v = 1 } == a, calls)
print(a == 1, 1 == a, a == "x", a == nil, nil == a, a ~= nil, calls)
print(new(1, { __eq = function() return 5 end }) == new(1, m1))
local always = { __eq = function() return 0 end }
print(new(1, always) == new(2, always), new(1, always) ~= new(2, always))
local never = { __eq = function() return nil end }
print(new(1, never) == new(1, never), not (new(1, never) == new(1, never)))
if a == b then print("branch taken") else print("not taken") end
if a ~= b then print("taken") else print("branch not taken") end
local p, q = newproxy(true), newproxy(true)
getmetatable(p).__eq = function() return true end
getmetatable(q).__eq = getmetatable(p).__eq
print(p == q)
getmetatable(q).__eq = nil
print(p == q)
