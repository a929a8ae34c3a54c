-- As many coroutines may resume each other as C's Lua has calls of C.
local deepest, why = 0
local function nest(n)
  deepest = n
  local inner = coroutine.create(nest)
  local ok, message = coroutine.resume(inner, n + 1)
  if not ok then why = message return coroutine.status(inner), message end
  return message
end
print(nest(1))
print(deepest, why)
local depth = 0
local function wrapped(n) depth = n return coroutine.wrap(wrapped)(n + 1) end
print(coroutine.resume(coroutine.create(function() wrapped(1) end)) == false, depth)
-- Those that have ended do not count.
for i = 1, 3 do print(nest(1)) end
