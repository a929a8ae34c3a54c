local sum = 0
for i = 1, 3000 do
  local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return a + b end)
  sum = sum + co(i) + co(1)
end
print(sum)
local generator = coroutine.wrap(function() local i = 0 while true do i = i + 1 coroutine.yield(i) end end)
local s = 0
for _ = 1, 30000 do s = s + generator() end
print(s)
local function hot(n) local t = 0 for i = 1, n do t = t + i % 3 end return t end
local results = {}
for i = 1, 5 do
  results[i] = coroutine.create(function()
    local t = 0
    for round = 1, 10 do t = t + hot(3000) if round % 3 == 0 then coroutine.yield(t) end end
    return "end " .. t
  end)
end
for round = 1, 4 do
  local line = {}
  for i = 1, 5 do line[i] = tostring(select(2, coroutine.resume(results[i]))) end
  print(table.concat(line, " "))
end
