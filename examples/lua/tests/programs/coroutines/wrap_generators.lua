local function range(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
for i, square in range(4) do io.write(i, ":", square, " ") end
print()
local next_value = coroutine.wrap(function(...) local x = ... while true do x = coroutine.yield(x * 2) end end)
print(next_value(1), next_value(5), next_value(10))
local once = coroutine.wrap(function() return "only" end)
print(once())
print(pcall(once))
local failing = coroutine.wrap(function() error("inside wrap") end)
print(pcall(failing))
print(pcall(failing))
local value = coroutine.wrap(function() error({ code = 5 }) end)
local ok, e = pcall(value)
print(ok, type(e), e.code)
print(pcall(coroutine.wrap, 5))
print(pcall(coroutine.wrap))
print(type(range(1)))
-- A number that is an error gets the position of the call, as a text does.
for _, value in ipairs { 42, -1.5, "text", false } do
  local f = coroutine.wrap(function() error(value, 0) end)
  print(pcall(function() return (f()) end))
  print(pcall(coroutine.wrap(function() error(value, 0) end)))
end
