-- A local variable that a function assigns to in the middle of an expression: C's Lua reads it when the operator runs, behind
-- what is to the right of it. Upvalues, globals and fields are read at once, and so are arguments and what `..` joins.

local function check(what, ...)
  print(what, ...)
end

for round = 1, 3 do
  local s = 1
  local function add(n) s = s + n return n end
  check("+", s + add(10), s)
  check("-", s - add(10), s)
  check("*", s * add(2), s)
  check("/", s / add(3), s)
  check("%", s % add(7), s)
  check("^", s ^ add(1) - s ^ 1, s)
  check("paren", (s) + add(10), s)
  check("right", add(10) + s, s)
  check("both", s + s + add(5), s)
  check("chain", s + add(1) + s + add(2), s)
  check("chain in chain", s + (s + add(1)) * 2, s)
  check("const", s + 1 + add(1), 2 + s + add(1))
  check("negate", -s + add(10), s)
  check("<", s < add(30), s)
  check(">", s > add(1000), s)
  check("<=", s <= add(30), s >= add(5))
  check("==", s == add(5), s ~= add(5), (s == s + add(0)))
  check("not", not s == add(5), s)
  check("and", s and add(1), s and s + add(1))
  check("or", s or add(1), (s or add(1)) + add(1))
  check("arguments", s, add(1), s, add(2), s)
  check("concat", s .. " " .. add(1) .. " " .. s)
  check("constructor", unpack({s, add(1), s, add(2), s}))
  s = s + add(100)
  check("assigned", s)
  local a, b, c = s, add(1), s
  check("declared", a, b, c)
  if s < add(1) then check("if", s) else check("else", s) end
  while s > add(500) - 2000 and s < 5000 do s = s + 1 end
  check("while", s)
end

-- Tables and keys.
for round = 1, 3 do
  local one, two = {name = "one"}, {name = "two"}
  local t, k, swaps = one, 1, 0
  local function swap(v)
    t = t == one and two or one
    k = k + 1
    swaps = swaps + 1
    return v
  end
  t[k] = swap("x")
  check("key behind", one[1], one[2], two[1], two[2], t.name)
  t[swap(5)] = k
  check("table behind", one[5], two[5])
  check("index", t[swap("name")], t.name)
  check("index key", ({10, 20, 30, 40, 50, 60})[k], ({swap(1), swap(2)})[k - k + 1], k)
  t.field = swap("f")
  check("field", one.field, two.field)
  t.sub = {}
  t.sub.x = swap("deep")
  check("deep", one.sub and one.sub.x, two.sub and two.sub.x)
  one.sub, two.sub = nil, nil
  local made = {[k] = swap("made"), [k + 0] = swap("computed"), k = swap("named"), k}
  for i = 1, 40 do if made[i] then check("made", i, made[i], made.k) end end
  check("method", (t.name):upper(), t.name)
  function t.get(self, ...) return self.name, select("#", ...), ... end
  one.get, two.get = t.get, t.get
  check("self", t:get(swap(1), k))
  check("callee", t.get(t, swap(2), t == one))
  -- Several targets: the last one is assigned to first; a variable among them counts with what it had before.
  k = 1
  t[k], k = "first", 7
  check("several", one[1], two[1], one[7], two[7], k)
  k, t[k] = 3, "second"
  check("turned", one[7], two[7], k)
  t[k], t[k + 1], k = swap("a"), swap("b"), swap(11)
  check("copied", one[3], two[3], one[4], two[4], one[5], two[5], k)
  t[k], t.z = swap("c"), swap("d")
  check("late", one[12], two[12], one[13], two[13], one.z, two.z, k)
  local keep = t
  t[k], t.q, t = swap("e"), "q", keep
  check("table copied", one.q, two.q, t == keep, k)
  check("swaps", swaps)
end

-- Metamethods that assign.
for round = 1, 3 do
  local n, log = 0, {}
  local object = setmetatable({}, {
    __index = function(_, key) n = n + 1 return key end,
    __newindex = function(t, key, value) n = n * 2 log[#log + 1] = tostring(key) .. "=" .. tostring(value) end,
    __add = function(a, b) n = n + 100 return 1 end,
    __lt = function() n = n + 1000 return true end,
    __unm = function() n = n + 5 return 2 end,
    __concat = function(a, b) n = n + 7 return "c" end,
  })
  check(n + object[10], n)
  check(n + (object + 1), n)
  check(n + -object, n)
  check(n .. (object .. "x") .. n, n)
  check(n * (object < object and 1 or 2), n)
  object[n], object[n + 1], object[n] = n, n, n
  check(table.concat(log, " "), n)
  local x
  x, object[n], x = 1, n, 2
  check(x, table.concat(log, " "), n)
end

-- Upvalues and globals are read at once; parameters and variables of loops that are assigned to by others, late.
local up = 1
local function bump(v) up = up + 1 return v end
local function inner() return up + bump(0), up * bump(2), up < bump(3), ({5, 6, 7, 8, 9, 10, 11})[up] end
for round = 1, 3 do check("upvalue", inner()) end
glob = 1
local function gbump(v) glob = glob + 1 return v end
for round = 1, 3 do check("global", glob + gbump(0), glob < gbump(2)) end
local function parameter(p, ...)
  local function set(v) p = v return v end
  return p + set(10), p - set(3), ..., p == set(4)
end
for round = 1, 3 do check("parameter", parameter(round, round)) end
for i = 1, 3 do
  local function set(v) i = i + v return v end
  check("loop", i + set(1), i * set(2), i)
end
for k, v in pairs({5}) do
  local function set(x) k, v = v, x return x end
  check("pairs", k + set(1), v - set(2), k, v)
end

-- In coroutines, while others wait.
local function generator()
  local s = 1
  local function wait(v) s = s + coroutine.yield(s) return v end
  while true do
    s = s + wait(1)
  end
end
local co = coroutine.wrap(generator)
for i = 1, 6 do check("coroutine", co(i)) end
