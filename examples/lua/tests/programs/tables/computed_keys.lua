-- Elements that are in no array, by keys that the program computes: names in slots and in hash parts, numbers, objects, booleans.
local function get(t, k) return t[k] end
local function set(t, k, v) t[k] = v end
local function add(t, k) t[k] = (t[k] or 0) + 1 end
local function sum(t, keys) local s = 0 for i = 1, #keys do s = s + (get(t, keys[i]) or 0) end return s end

local function names(n, prefix) local r = {} for i = 1, n do r[i] = prefix .. i end return r end
local sizes = { 1, 3, 8, 9, 100, 513, 700 }

-- Names: the tables have them in slots at first, and in a hash part when there are too many.
for _, n in ipairs(sizes) do
  local keys, t = names(n, "name"), {}
  for round = 1, 40 do for i = 1, n do add(t, keys[i]) end end
  print(n, sum(t, keys), get(t, "name0"), get(t, "absent"))
  for i = 1, n, 2 do set(t, keys[i], nil) end
  print(sum(t, keys), get(t, keys[1]))
  for i = 1, n do add(t, keys[i]) end
  print(sum(t, keys), get(t, keys[1]))
  local count = 0
  for _ in pairs(t) do count = count + 1 end
  print(count)
end

-- Numbers that are no indices of the array, objects, booleans; all in one table, and the same ones as names.
local objects = {}
for i = 1, 50 do objects[i] = i % 3 == 0 and {} or i % 3 == 1 and function() return i end or coroutine.create(function() end) end
local mixed = { 1, 2, 3, a = 1, b = 2 }
for round = 1, 60 do
  for i = 1, 50 do
    add(mixed, objects[i]) add(mixed, i * 7919) add(mixed, i + 0.25) add(mixed, -i) add(mixed, 2 ^ 40 * i)
    add(mixed, "n" .. i) add(mixed, tostring(i)) add(mixed, i % 2 == 0) add(mixed, i)
  end
end
print(get(mixed, true), get(mixed, false), get(mixed, objects[7]), get(mixed, 7919), get(mixed, 1.25), get(mixed, -5))
print(get(mixed, 2 ^ 41), get(mixed, "n9"), get(mixed, "9"), get(mixed, 9), get(mixed, 1), get(mixed, "a"), get(mixed, "b"))
print(get(mixed, 0), get(mixed, -0), get(mixed, 1 / 0), get(mixed, 0 / 0), get(mixed, nil))
set(mixed, 0, "zero") set(mixed, 1 / 0, "inf") set(mixed, -1 / 0, "-inf")
print(get(mixed, -0), get(mixed, 0 * -1), get(mixed, 1 / 0), get(mixed, -1 / 0))
print(pcall(set, mixed, nil, 1))
print(pcall(set, mixed, 0 / 0, 1))
print(pcall(get, nil, "x"))
print(pcall(set, 5, "x", 1))

-- The same sites with tables that have metatables: what is absent comes from elsewhere, and what is there does not.
local log = {}
local class = { inherited = "from class" }
class.__index = function(t, k) log[#log + 1] = "get " .. tostring(k) return class[k] end
class.__newindex = function(t, k, v) log[#log + 1] = "set " .. tostring(k) rawset(t, k, v) end
local object = setmetatable({ own = 1 }, class)
for round = 1, 30 do
  for _, k in ipairs { "own", "inherited", "nowhere", 3.5, true } do
    local v = get(object, k)
    if round % 10 == 0 then set(object, k, (tonumber(v) or 0) + 1) end
  end
end
print(get(object, "own"), get(object, "inherited"), get(object, "nowhere"), get(object, 3.5), get(object, true), #log)
print(table.concat(log, ",", 1, 8))

-- Metamethods under computed names: whoever has looked before sees them.
local meta = {}
local with = setmetatable({}, meta)
for round = 1, 40 do
  get(with, "x") set(meta, "other", round) get(meta, "other")
  if round == 20 then set(meta, "__index", function(_, k) return k .. "!" end) end
  if round == 30 then set(meta, "__index", nil) end
  if round == 35 then set(meta, "__index", { x = "table" }) end
  if round % 6 == 0 then print(round, get(with, "x")) end
end
local strings = names(600, "s")
for i = 1, 600 do set(meta, strings[i], i) end
for round = 1, 40 do
  for i = 1, 600, 50 do set(meta, strings[i], round) end
  if round == 20 then set(meta, "__index", function(_, k) return k .. "?" end) set(meta, "__call", function() return "called" end) end
  if round % 8 == 0 then print(round, get(with, "x"), pcall(with)) end
end

-- What fields know of a metatable is forgotten when it changes under a computed name, in slots and in a hash part.
for _, n in ipairs { 0, 600 } do
  local changing = { __index = { field = "first" }, __newindex = {} }
  for i = 1, n do changing[strings[i]] = i end
  local of = setmetatable({}, changing)
  local function look() return of.field, of.absent end
  local function store(v) of.stored = v return rawget(of, "stored") end
  local text = {}
  for round = 1, 60 do
    set(changing, "unrelated", round)
    text[#text + 1] = tostring(look()) .. tostring(select(2, look())) .. tostring(store(round))
    if round == 20 then set(changing, "__index", { field = "second", absent = "there" }) end
    if round == 30 then set(changing, "__newindex", nil) end
    if round == 40 then set(changing, "__index", nil) end
    if round == 50 then set(changing, "__index", { field = "third" }) end
  end
  for round = 19, 59, 1 do print(n, round, text[round]) end
end

-- Two tables of one shape, of which one gets another: each has its own values.
local first, second = {}, {}
for i = 1, 20 do set(first, strings[i], i) set(second, strings[i], -i) end
for round = 1, 30 do
  for i = 1, 20 do assert(get(first, strings[i]) == i and get(second, strings[i]) == -i) end
end
set(second, "more", 1)
for i = 1, 20 do set(second, strings[i], 2 * i) end
for i = 1, 20 do assert(get(first, strings[i]) == i and get(second, strings[i]) == 2 * i) end
print(get(first, "more"), get(second, "more"))

-- The same keys in another order.
local one, other = {}, {}
for i = 1, 20 do set(one, strings[i], i) set(other, strings[21 - i], i) end
for round = 1, 30 do
  for i = 1, 20 do assert(get(one, strings[i]) == i) assert(get(other, strings[i]) == 21 - i) end
end
for i = 1, 20 do set(one, strings[i], i + 1) set(other, strings[i], -i) end
for i = 1, 20 do assert(get(one, strings[i]) == i + 1) assert(get(other, strings[i]) == -i) end

-- One key in many shapes, in various slots.
local many = {}
for i = 1, 100 do
  many[i] = { ["u" .. i] = 0 }
  for filler = 1, i % 5 do set(many[i], "f" .. filler, -1) end
  set(many[i], "shared", i)
end
for round = 1, 30 do
  for i = 1, 100 do
    assert(get(many[i], "shared") == i + round - 1)
    set(many[i], "shared", i + round)
  end
end

-- Tables that are garbage at once, so that others stand where they were.
local total = 0
for round = 1, 300 do
  local t = {}
  for i = 1, 12 do set(t, "k" .. (i * round) % 37, i) set(t, i * 1000 + round, i) end
  for i = 0, 36 do total = total + (get(t, "k" .. i) or 0) end
  for i = 1, 12 do total = total + get(t, i * 1000 + round) end
  if round % 100 == 0 then collectgarbage() end
end
print(total)

-- Weak tables: what the collector has taken is not found.
local weak = setmetatable({}, { __mode = "k" })
local kept = {}
for i = 1, 200 do local key = {} weak[key] = i if i % 10 == 0 then kept[#kept + 1] = key end end
for round = 1, 5 do
  collectgarbage()
  local s = 0
  for _, key in ipairs(kept) do s = s + get(weak, key) end
  local n = 0
  for _ in pairs(weak) do n = n + 1 end
  print(s, n)
end

-- Elements are removed and added while others walk over the table.
local walked = {}
for i = 1, 100 do set(walked, "w" .. i, i) set(walked, i + 0.5, i) end
local seen = 0
for k, v in pairs(walked) do seen = seen + v set(walked, k, nil) end
print(seen, next(walked))
for i = 1, 100 do add(walked, "w" .. i) add(walked, i + 0.5) end
print(sum(walked, names(100, "w")), get(walked, 50.5))
