local order = {}
local t = setmetatable({}, { __newindex = function(_, key, value) order[#order + 1] = key .. ":" .. tostring(value) end })
t.a, t.b, t.c = 1, 2
print(#order)
table.sort(order)
print(table.concat(order, " "))
for i = 1, 3 do t[i] = i * i end
print(#order, order[4], order[5], order[6])
t.f = nil
function t.method() end
function t:other() end
print(#order, rawget(t, "method"), rawget(t, "other"))
local n = 0
local counting = setmetatable({}, { __newindex = function(self, key, value) n = n + 1 rawset(self, key, value) end })
for _ = 1, 3 do for key = 1, 5 do counting[key] = key end end
print(n, #counting)
