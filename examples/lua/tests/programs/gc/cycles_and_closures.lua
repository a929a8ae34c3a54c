local weak = setmetatable({}, { __mode = "v" })
do
  local a, b = {}, {}
  a.b, b.a = b, a
  weak.a, weak.b = a, b
  local function f() return f, a end
  weak.f = f
  local co = coroutine.create(function() local self = weak.co coroutine.yield(self) end)
  weak.co = co
  coroutine.resume(co)
end
local t = {}
t.t = t
weak.t = t
collectgarbage()
print(weak.a, weak.b, weak.f, weak.co, weak.t == t)
t = nil
collectgarbage()
print(weak.t)
