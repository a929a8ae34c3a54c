-- Keys that are no elements of an array, in tables with metatables: what is there is set without a look at these, and nothing else is.
local function count(of, keys, n)
  for i = 1, n do
    local key = keys[i % #keys + 1]
    of[key] = of[key] + 1
  end
end
local function show(of)
  local out = {}
  for key, value in pairs(of) do out[#out + 1] = tostring(key) .. "=" .. tostring(value) end
  table.sort(out)
  return table.concat(out, " ")
end

local words = { "the", "quick", "brown", "fox", 2.5, -1, true }
local counts = setmetatable({}, { __index = function() return 0 end })
count(counts, words, 500)
print(show(counts))

-- A key whose value is nil again is one for `__newindex`.
local log = {}
local logged = setmetatable({}, {
  __index = function() return 0 end,
  __newindex = function(of, key, value)
    log[#log + 1] = tostring(key)
    rawset(of, key, value)
  end,
})
for round = 1, 4 do
  count(logged, words, 100)
  logged.fox, logged[2.5] = nil, nil
  print(#log, show(logged))
end

-- Metatables that come, go and change, also while a loop runs.
local function fill(of, n, at)
  local stored = 0
  for i = 1, n do
    local key = i % 2 == 0 and "even" or "odd"
    of[key] = i
    if at and i % 7 == 0 then at(i) end
    stored = stored + (rawget(of, key) or 0)
  end
  return stored
end
local plain, meta = {}, {}
print(fill(plain, 100), show(plain))
setmetatable(plain, meta)
print(fill(plain, 100), show(plain))
meta.__newindex = function(_, key) log[#log + 1] = "new " .. key end
plain.even = nil
print(fill(plain, 100), show(plain), log[#log])
meta.__newindex = {}
print(fill(plain, 100), show(plain), show(meta.__newindex))
meta.__newindex = nil
print(fill(plain, 100), show(plain))
setmetatable(plain, nil)
print(fill(plain, 100), show(plain))

-- Fields of objects by computed names, and of classes that others inherit from, metamethods among them.
local Class = { kind = "class", level = 1 }
Class.__index = Class
local objects = {}
for i = 1, 20 do objects[i] = setmetatable({ x = i, y = -i }, Class) end
local function move(names, n)
  local sum = 0
  for i = 1, n do
    local object, name = objects[i % 20 + 1], names[i % #names + 1]
    object[name] = object[name] + 1
    sum = sum + object[name] + object.level
  end
  return sum
end
print(move({ "x", "y" }, 400), move({ "x", "level" }, 400))
for i = 1, 100 do
  for _, name in ipairs({ "level", "kind", "__index" }) do Class[name] = name == "__index" and Class or i end
end
print(objects[1].level, objects[3].kind, setmetatable({}, Class).level)
local added = setmetatable({}, Class)
local ops = { "__add", "__sub", "__index" }
setmetatable(Class, { __index = function(_, name) return "absent " .. tostring(name) end })
for i = 1, 60 do
  local name = ops[i % 2 + 1]
  Class[name] = rawget(Class, name) and function(a, b) return name .. i end or function() return "first" end
  if i % 20 == 0 then print(added + 1, added - 1, added.none) end
end

-- Weak tables keep what is set, and lose what nothing else has.
local weak = setmetatable({}, { __mode = "v" })
local kept = {}
for i = 1, 30 do kept[i] = {} weak["k" .. i] = kept[i] end
for round = 1, 40 do
  for i = 1, 30 do
    local made = { round }
    weak["k" .. i] = made
    if i % 3 == 0 then kept[i] = made end
  end
  if round % 10 == 0 then
    collectgarbage()
    local there = 0
    for _, value in pairs(weak) do there = there + value[1] end
    print(there)
  end
end
local byobject = setmetatable({}, { __mode = "k" })
for round = 1, 40 do
  for i = 1, 30 do byobject[kept[i]] = (byobject[kept[i]] or 0) + round end
  for i = 1, 30 do byobject[{}] = i end
  if round % 20 == 0 then collectgarbage() end
end
collectgarbage()
local sum, n = 0, 0
for _, value in pairs(byobject) do sum, n = sum + value, n + 1 end
print(sum, n)
