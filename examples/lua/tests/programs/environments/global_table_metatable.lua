setmetatable(_G, {
  __index = function(_, name) return "default " .. name end,
  __newindex = function(t, name, value) rawset(t, name, "<" .. tostring(value) .. ">") end,
})
print(undefined_name)
fresh = 1
print(fresh)
fresh = 2
print(fresh)
local function f() return another_name, fresh end
print(f())
setmetatable(_G, nil)
print(undefined_name, fresh)
function in_global() return 1 end
print(_G.in_global(), _G["in_global"] == in_global)
_G.dynamic = "set by table"
print(dynamic)
local name = "computed" .. 1
_G[name] = 10
print(computed1)
print = print
_G.print("through the table")
