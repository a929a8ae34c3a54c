local list = {}
for i = 1, 1000 do
  list[i] = coroutine.wrap(function()
    local total = i
    while true do total = total + coroutine.yield(total) end
  end)
  list[i]()
end
local sum = 0
for round = 1, 3 do
  for i = 1, 1000 do sum = sum + list[i](round) end
end
print(sum, list[1](0), list[1000](0))
list = nil
collectgarbage()
local n = 0
for _ = 1, 2000 do
  local co = coroutine.create(function() coroutine.yield() end)
  coroutine.resume(co)
  n = n + 1
end
print(n)
