local log = {}
local co = coroutine.create(function(x)
  local ok, e = pcall(function() log[#log + 1] = "try" error("inner " .. x, 0) end)
  log[#log + 1] = tostring(ok) .. " " .. e
  x = coroutine.yield("paused")
  local ok2, e2 = pcall(error, x)
  log[#log + 1] = tostring(ok2) .. " " .. e2
  error("final", 0)
end)
print(coroutine.resume(co, "one"))
print(coroutine.resume(co, "two"))
print(coroutine.resume(co, "three"))
print(table.concat(log, "; "))
print(debug.traceback(co) ~= nil, coroutine.status(co))
