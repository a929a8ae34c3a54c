-- Constructors with the same names again and again, whatever the values: tables that are made so are like any others.
local function shown(t)
  local all = {}
  for k, v in pairs(t) do all[#all + 1] = tostring(k) .. "=" .. tostring(v) end
  table.sort(all)
  return "{" .. table.concat(all, " ") .. "} #" .. #t
end

local log = {}
local function note(value) log[#log + 1] = tostring(value) return value end
local function two() return "first", "second" end
local function none() end

local function make(i)
  local link = i % 3 ~= 0 and i or nil
  return {
    { id = i, link = link, done = i % 2 == 0 },
    { link = link, id = i },
    { i, nil, i + 1, x = link },
    { x = note(i), note(-i), y = note(i * 2), [1] = "late" },
    { a = 1, a = i, b = link },
    { ["b c"] = i, [i] = i, d = link },
    { two(), e = i, two() },
    { (two()), f = none(), g = two(), n = (none()) },
    { __index = link, __mode = i % 2 == 0 and "k" or nil, h = i },
    { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15,
      p = link, q = i },
    { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, i, link, 15, z = i },
    { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, i, link, 15, y = link, z = i },
    { nested = { i, { deep = link }, at = { } }, },
    { },
  }
end

for i = 1, 90 do
  local all = make(i)
  if i % 30 < 3 then
    for at, t in ipairs(all) do
      if at == 13 then t = { inner = shown(t.nested[2]), at = shown(t.nested.at), first = t.nested[1] } end
      print(i, at, shown(t))
    end
    print(table.concat(log, " "))
  end
  log = {}
end

-- What is nil in a constructor is no field: metatables are asked, and the field can come and go.
local asked, assigned = 0, 0
local class = { greeting = "hello" }
class.__index = function(t, key) asked = asked + 1 return class[key] or key end
class.__newindex = function(t, key, value) assigned = assigned + 1 rawset(t, key, value) end
local function object(name, age) return setmetatable({ name = name, age = age, greeting = nil }, class) end
for i = 1, 100 do
  local a, b = object("a", i), object(nil, i % 2 == 0 and i or nil)
  local text = a.name .. a.age .. a.greeting .. b.name .. tostring(b.age)
  b.name = "b" .. i
  b.other = i
  a.name, a.age = nil, nil
  local gone = tostring(rawget(a, "name")) .. a.name
  a.age = i
  b.name = nil
  if i % 25 == 0 then print(text, gone, shown(a), shown(b), asked, assigned) end
end

-- Keys are taken away and added while a table is gone through.
for i = 1, 50 do
  local t = { p = 1, q = i, r = nil, s = 4, i, i }
  for k in pairs(t) do t[k] = nil end
  assert(next(t) == nil)
  t.r, t.q, t.extra = i, 2, 3
  if i % 25 == 0 then print(shown(t)) end
end

-- Many constructors, each with names of its own, and the collector.
local kept = {}
for i = 1, 400 do
  local make = loadstring("local a, b = ... return { k" .. i .. " = a, l" .. i .. " = b, m = a, " .. i .. " }")
  kept[i % 10] = make(i, i % 2 == 0 and "even" or nil)
  kept[i % 10].more = make
  if i % 50 == 0 then
    collectgarbage()
    local again = kept[i % 10].more("x", "y")
    print(shown({ again["k" .. i], again["l" .. i], again.m, again[1] }), kept[i % 10]["k" .. i], kept[i % 10].m)
  end
end

-- An error in a value leaves nothing behind.
for i = 1, 40 do
  local ok, message = pcall(function() return { a = i, b = i > 20 and error("stop", 0) or i, c = note(i) } end)
  if i % 20 < 2 then print(i, ok, ok and shown(message) or message, #log) end
end
