-- Bytecodes that see more shapes than their sites know: fields of the table itself, fields that it inherits, fields that nobody has,
-- fields that it gets; and what changes later.
local N = 12
local Base = {kind = "base"}
Base.__index = Base
function Base:init(x, y) self.x = x self.y = y self.count = 0 return self end
function Base:area() return self.x * 2 end
function Base:step(d) self.x = self.x + d self.count = self.count + 1 return self:area() + (self.extra or 1) end
local classes = {}
for i = 1, N do
  local C = setmetatable({}, {__index = Base})
  C.__index = C
  C["only" .. i] = i
  if i % 3 == 0 then function C:area() return self.x + self.y * i end end
  if i % 4 == 0 then C.extra = i end
  classes[i] = C
end
local function new(C, x, y) return setmetatable({}, C):init(x, y) end

local function all()
  local objects, sum = {}, 0
  for i = 1, 240 do objects[i] = new(classes[i % N + 1], i, 2 * i) end
  for r = 1, 3 do for i = 1, #objects do sum = sum + objects[i]:step(r) end end
  local fields = 0
  for i = 1, #objects do
    local n = 0
    for k in pairs(objects[i]) do n = n + 1 end
    fields = fields + n
  end
  return sum, fields, objects
end

for r = 1, 4 do print((all())) end
-- A method that all inherit becomes another one, then a value, then nothing.
function Base:area() return self.y end
print((all()))
Base.area = 7
print(pcall(all))
Base.area = nil
print(pcall(all))
function Base:area() return 1 end
-- A class gets what it inherited, and loses it again.
classes[2].step = function(self, d) return d end
print((all()))
classes[2].step = nil
print((all()))
-- Objects have what nobody had.
Base.extra = 100
print((all()))
Base.extra = nil
print((all()))
-- A class gets a parent of its own, and a function as a parent.
setmetatable(classes[5], {__index = {step = function() return 5 end, init = Base.init}})
print((all()))
setmetatable(classes[5], {__index = function(_, key) return Base[key] end})
print((all()))
setmetatable(classes[5], {__index = Base})
print((all()))
-- What is set is watched from now on.
local log = 0
for i = 1, N do classes[i].__newindex = function(object, key, value) log = log + 1 rawset(object, key, value) end end
do local sum, fields = all() print(sum, fields) end
print(log)
for i = 1, N do classes[i].__newindex = nil end
do local sum, fields = all() print(sum, fields) end
print(log)

-- Records without metatables: present, absent, set, of one name each.
local function records()
  local list = {}
  for i = 1, 60 do
    local k = i % 10
    local record = {}
    for j = 0, k do record["field" .. j] = i + j end
    record.tag = i
    if k > 4 then record.flag = true end
    list[i] = record
  end
  return list
end
local function sum(list)
  local s, flags = 0, 0
  for i = 1, #list do
    local record = list[i]
    s = s + record.tag + (record.field3 or 0)
    if record.flag then flags = flags + 1 end
    record.tag = record.tag + 1
    record.seen = (record.seen or 0) + 1
  end
  return s, flags
end
for r = 1, 3 do
  local list = records()
  for n = 1, 20 do sum(list) end
  print(sum(list))
  -- Names that go away with what is collected.
  list = nil
  collectgarbage()
end

-- Copies by computed names, of tables with and without metatables, and of those that others inherit from.
local function copy(from, to) for k, v in pairs(from) do to[k] = v end return to end
local Watched = {__newindex = function(t, k, v) rawset(t, k, v and v * 10) end}
for r = 1, 40 do
  local a = copy({a = 1, b = 2, c = 3}, {})
  local b = copy(a, setmetatable({}, Base))
  local c = copy(b, setmetatable({}, Watched))
  if r % 20 == 0 then print(a.a + a.b + a.c, b.a + b.b + b.c, c.a + c.b + c.c) end
end
local Child = setmetatable({}, {__index = Base})
local child = setmetatable({}, {__index = Child})
for r = 1, 30 do
  local name = "n" .. r
  local before = child[name]
  copy({[name] = r}, r % 2 == 0 and Child or Base)
  assert(before == nil and child[name] == r)
end
-- Names that begin as those of metamethods do.
local function give(t, name, value) t[name] = value return t end
for r = 1, 30 do give({}, "plain", r) end
local meta = {}
local one = setmetatable({}, meta)
for r = 1, 5 do
  print(tostring(pcall(function() return one + 1 end)))
  give(meta, "__add", r % 2 == 1 and function(_, n) return n end or nil)
end
-- A thousand names at one bytecode.
local big = {}
for r = 1, 3 do
  for i = 1, 1000 do give(big, "key" .. i, (big["key" .. i] or 0) + i) end
end
local total = 0
for k, v in pairs(big) do total = total + v end
print(total, big.key7, big.key1000, big.key1001)
for i = 1, 50 do big.key7 = big.key7 + 1 end
print(big.key7, rawget(big, "key7"))
