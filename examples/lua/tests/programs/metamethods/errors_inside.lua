local m = setmetatable({}, {
  __add = function() error("in add") end,
  __index = function(_, k) error("no " .. k, 0) end,
  __call = function() local x = nil return x.y end,
  __lt = function() error({ "table" }) end,
  __concat = function(a, b) return a + b end,
  __eq = function() error("eq", 0) end,
})
print(pcall(function() return m + 1 end))
print(pcall(function() return m.field end))
print(pcall(m))
local ok, e = pcall(function() return m < m end)
print(ok, type(e), e[1])
print(pcall(function() return m .. "x" end))
print(pcall(function() return m == setmetatable({}, getmetatable(m)) end))
print(pcall(rawget, m, "field"))
