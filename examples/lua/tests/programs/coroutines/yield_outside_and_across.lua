print(pcall(coroutine.yield, 1))
local co
co = coroutine.create(function() table.sort({ 3, 2, 1 }, function(a, b) coroutine.yield() return a < b end) end)
print(coroutine.resume(co))
co = coroutine.create(function() return (("x"):gsub("x", function() coroutine.yield() end)) end)
print(coroutine.resume(co))
