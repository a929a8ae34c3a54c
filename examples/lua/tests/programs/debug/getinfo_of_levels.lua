local function show(level, what)
  local info = debug.getinfo(level + 1, what or "nSl")
  if not info then return print(level, "none") end
  print(level, info.name, info.namewhat, info.what, info.currentline, info.linedefined)
end
local function inner() show(1) show(2) show(3) show(20) end
local function outer() inner() return nil end
outer()
local object = {}
function object.field() show(1) end
function object:method() show(1) end
object.field()
object:method()
function global_function() show(1) end
global_function()
local up = function() show(1) end
local function uses_upvalue() up() end
uses_upvalue()
pcall(inner)
setmetatable(object, { __index = function() show(1) end, __add = function() show(1) end })
local _ = object.missing
_ = object + 1
for _ in function() show(1) end do end
