local get
local ok = pcall(function()
  local v = "before"
  get = function() return v end
  v = "after"
  error("leave")
end)
print(ok, get())
local inner
local co = coroutine.wrap(function()
  local v = 1
  inner = function() v = v + 1 return v end
  coroutine.yield(v)
  coroutine.yield(v)
end)
print(co(), inner(), inner(), co(), inner())
co = nil
collectgarbage()
print(inner())
