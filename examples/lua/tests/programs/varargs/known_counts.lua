-- Vararg functions that are called again and again with the same numbers of arguments, so that calls know how many there are.

local function show(...)
  local out = {}
  for i = 1, select("#", ...) do out[i] = tostring((select(i, ...))) end
  return "(" .. table.concat(out, " ") .. ")"
end

-- Every number of arguments, from fewer than there are parameters to more than there are registers for.
local function two(a, b, ...) return show(a, b, ...), select("#", ...), ... end
local function count(...) return (select("#", ...)) end
local function first(...) return (...) end
local function all(...) return ... end
local function behind(a, ...) return a, ... end
local function around(...) return 1, ..., 2, ... end
for round = 1, 3 do
  print(two())
  print(two(1))
  print(two(1, 2))
  print(two(1, 2, 3))
  print(two(1, nil, 3, nil))
  print(two(nil, nil, nil, nil, nil))
  print(two(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
  print(count(), count(nil), count(nil, nil), count(1, 2, 3), count(all(1, 2, 3, 4)), count(all()), count((all(1, 2))))
  print(first(), first(7), first(nil, 7), first(7, 8, 9, 10, 11))
  print(all(), all(1), all(1, 2), all(1, 2, 3))
  print(all(1, 2, 3, 4, 5, 6))
  print(behind(), behind(1), behind(1, 2))
  print(around(), around(5), around(5, 6), around(5, 6, 7, 8))
end

-- Where `...` may stand.
local Object = {}
Object.__index = Object
function Object:new(...)
  local made = setmetatable({}, self)
  made:init(...)
  return made
end
function Object:init(x, y, ...) self.x, self.y, self.more = x, y, { n = select("#", ...), ... } end
function Object:with(...) return self.x, ... end
local function constructors(...)
  local a, b, c = { ... }, { ..., 9 }, { 9, ..., x = 1, 8 }
  local d = { [0] = ..., 1, 2, ... }
  return #a, #b, #c, b[1], c[2], d[0], #d, a[1], a[2]
end
local function conditions(...)
  local n = 0
  if ... then n = n + 1 end
  if not ... then n = n + 10 end
  while ... and n < 3 do n = n + 1 end
  local x = ... or "none"
  local y = ... and "some"
  return n, x, y, ... == nil, -(... or 1), (... or "") .. "!"
end
local function assigned(a, ...)
  local b, c, d = ...
  a, b = b, ...
  local e, f = 1, 2, ...
  return a, b, c, d, e, f
end
local function iterated(...)
  local sum = 0
  for key, value in ... do sum = sum + value end
  for _, value in ipairs({ ... }) do if type(value) == "number" then sum = sum + value end end
  for i = 1, select("#", ...) do local value = select(i, ...) if type(value) == "number" then sum = sum + i end end
  return sum
end
local function counted(...) return (function(...) return select("#", ...) end)(...) end
local function closes(...)
  local a, b = ...
  return function(...) return a, b, ... end
end
for round = 1, 3 do
  local made = Object:new(1, 2, 3, nil)
  print(made.x, made.y, made.more.n, made.more[1], made:with(), made:with(nil), made:with(4, 5, 6, 7))
  print(constructors(), constructors(1), constructors(1, 2, 3))
  print(conditions())
  print(conditions(nil))
  print(conditions(2))
  print(conditions(false, 1))
  print(assigned())
  print(assigned(1))
  print(assigned(1, 2, 3, 4, 5))
  print(iterated(next, { 1, 2, 3 }))
  print(iterated(pairs({ 1, x = 2 })))
  print(counted(), counted(1, nil), closes(1, 2)(3, 4))
end

-- What `select` does with other numbers, and other functions of that name.
local function selects(which, ...) return select(which, ...) end
local function one_of(which, ...)
  local found = select(which, ...)
  return found
end
for round = 1, 3 do
  for _, which in ipairs({ 1, 2, 3, 1.9, -1, -2, "#", "1", "2" }) do
    print(which, selects(which, "a", "b"))
    print(which, one_of(which, "a", "b"))
  end
  for _, which in ipairs({ 0, -3, 0.5, "x", {}, 1 / 0, 2 ^ 31 }) do
    print(pcall(selects, which, "a", "b"))
    local ok, message = pcall(function() return one_of(which, "a", "b") end)
    print(ok, ok and message or tostring(message):gsub("table: %S+", "table"))
  end
end
local function shadowed(...)
  local select = function(which, ...) return which, "mine", ... end
  local a, b = select("#", ...), select(1, ...)
  return a, b, select(2, ...)
end
print(shadowed(1, 2), shadowed(1, 2), shadowed(1, 2))
local function changing(...)
  local a = select("#", ...)
  return a, (select(1, ...))
end
local real = select
for round = 1, 6 do
  if round == 4 then select = function(...) return real("#", ...), "other" end end
  if round == 5 then select = setmetatable({}, { __call = function(_, ...) return real("#", ...) * 10 end }) end
  if round == 6 then select = nil end
  print(pcall(changing, 5, 6))
end
select = real

-- Fewer and fewer arguments, and more and more; tail calls.
local function dropped(n, ...)
  if n == 0 then return ... end
  return dropped(n - 1, select(2, ...))
end
local function grown(n, ...)
  if n == 0 then return select("#", ...), ... end
  return grown(n - 1, n, ...)
end
local function greatest(best, second, ...)
  if not second then return best end
  return greatest(second > best and second or best, ...)
end
for round = 1, 3 do
  print(dropped(3, 1, 2, 3, 4, 5), dropped(0), dropped(9, 1))
  print(grown(12))
  print(greatest(1, 5, 3, 9, 2, 4), greatest(4))
end

-- Errors: where they are, and what was called.
local function fails(what, ...)
  if what == "index" then return (...).x end
  if what == "call" then return (...)() end
  if what == "select" then return select(0, ...) end
  error("it fails with " .. select("#", ...), 2)
end
for round = 1, 3 do
  for _, what in ipairs({ "index", "call", "select", "error" }) do
    print(pcall(fails, what, nil, 1))
    print(select(2, xpcall(function()
      local unused = fails(what, nil, 1)
    end, debug.traceback)))
  end
end

-- Globals of its own, upvalues that change, and coroutines.
local sum = 0
local function adds(...)
  for i = 1, select("#", ...) do sum = sum + (select(i, ...)) end
  total = (total or 0) + sum
  return sum
end
local other = setfenv(function(...) total = (total or 0) + select("#", ...) return total, ... end, { select = select })
for round = 1, 3 do print(adds(1, 2, 3), adds(), total, other(1, 2), other()) end
local function yields(...)
  local a, b = coroutine.yield(...)
  return select("#", ...), a, b, ...
end
for round = 1, 3 do
  local thread = coroutine.create(function(...) return yields(...) end)
  print(coroutine.resume(thread, 1, nil, 3))
  print(coroutine.resume(thread, 4, 5))
  print(pcall(pcall, yields))
end

-- A function that was dumped, and many functions that go again.
local dumped = string.dump(all)
for round = 1, 3 do print(loadstring(dumped)(1, 2, nil)) end
local kept = 0
for round = 1, 200 do
  local f = loadstring("local function f(a, ...) if a == 0 then return select('#', ...) + " .. round .. " end return f(a - 1, ...) end return f")()
  kept = kept + f(3, 1, 2) + f(3) + f(2, nil)
  if round % 50 == 0 then collectgarbage() end
end
print(kept)
