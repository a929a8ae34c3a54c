-- As deep as C's Lua gets, in a coroutine.
local function add(n) if n == 0 then return 0 end return 1 + add(n - 1) end
local function vary(n, ...) if n == 0 then return select("#", ...) end local count = vary(n - 1, n, ...) return count + 1 end
local function few(n, ...) if n == 0 then return select("#", ...) end local count = few(n - 1, ...) return count + 1 end
local function many(n)
  if n == 0 then return 0 end
  local a, b, c, d, e, f, g, h = n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
  local below = many(n - 1)
  return (below + a + b + c + d + e + f + g + h) % 1000
end
local object = {}
function object:walk(n) if n == 0 then return "end" end local found = self:walk(n - 1) return found end
local function try(f, ...)
  print(coroutine.resume(coroutine.create(f), ...))
  print(coroutine.wrap(function(...) return f(...) end)(...))
end
try(add, 16370)
try(vary, 60)
try(few, 16300, 1, 2, 3)
try(many, 16370)
try(object.walk, object, 16370)
-- A level of recursion yields at the bottom, and goes on.
local function down(n) if n == 0 then return coroutine.yield("bottom") end return (down(n - 1)) .. "" end
local co = coroutine.create(down)
print(coroutine.resume(co, 16370))
print(coroutine.resume(co, "up"))
print(coroutine.status(co))
-- What goes deeper ends, and coroutines go on working.
local deepest = 0
local function forever(n) deepest = n return 1 + forever(n + 1) end
local ok, message = coroutine.resume(coroutine.create(forever), 1)
print(ok, message, deepest > 16370)
try(add, 16370)
