local store = {}
local t = setmetatable({ own = 1 }, { __newindex = store })
t.own = 2
t.other = 3
print(t.own, rawget(t, "other"), store.other, store.own)
local log = {}
local u = setmetatable({}, { __newindex = function(self, key, value)
  log[#log + 1] = tostring(key) .. "=" .. tostring(value)
  rawset(self, key, value)
end })
u.a = 1 u.a = 2 u[1] = "x" u.b = nil u.b = 5 u.b = nil u.b = 6
print(table.concat(log, " "), u.a, u[1], u.b)
local chained = setmetatable({}, { __newindex = setmetatable({}, { __newindex = function(self, key, value)
  print("reached", type(self), key, value)
end }) })
chained.deep = "value"
print(rawget(chained, "deep"))
local readonly = setmetatable({}, { __newindex = function(_, key) error("read only: " .. key, 2) end })
print(pcall(function() readonly.x = 1 end))
print(pcall(function() setmetatable({}, { __newindex = 5 }).x = 1 end))
print(pcall(function() setmetatable({}, { __index = 5 }).x = 1 end))
print(pcall(function() return setmetatable({}, { __index = 5 }).x end))
