-- Places that see objects of many classes, more than they can know, while classes and objects change.
local function class(base)
  local made = {}
  made.__index = made
  return setmetatable(made, base and { __index = base })
end
local Root = class()
function Root.kind() return "root" end
function Root:get() return self.value or 0 end
Root.shared = 1
local classes = {}
for at = 1, 12 do
  local made = class(at % 3 == 0 and classes[at - 1] or Root)
  made.number = at
  if at % 2 == 0 then made.kind = function() return "even" .. at end end
  if at % 4 == 0 then made.shared = at end
  made["only" .. at] = true
  classes[at] = made
end
local objects = {}
for at = 1, 60 do
  local object = setmetatable({}, classes[at % 12 + 1])
  if at % 5 > 0 then object.value = at end
  if at % 7 == 0 then object.shared = -at end
  if at % 11 == 0 then object.extra = at end
  objects[at] = object
end
local function look()
  local kinds, sum, absent, extra = {}, 0, 0, 0
  for at = 1, #objects do
    local object = objects[at]
    kinds[at % 6 + 1] = object.kind()
    sum = sum + object:get() + object.number + object.shared
    if object.missing == nil then absent = absent + 1 end
    if object.extra then extra = extra + object.extra end
    if object.only3 then extra = extra + 1000 end
  end
  return table.concat(kinds, " "), sum, absent, extra
end
local function several(n)
  for _ = 1, n do look() end
  print(look())
end
several(40)
-- Values that change, keys that come and go, in the objects, their classes and what those inherit from.
Root.shared = 2
several(3)
classes[1].shared = 7
several(3)
classes[1].shared = nil
several(3)
Root.missing = "here"
several(3)
Root.missing = nil
classes[5].missing = false
several(3)
classes[5].missing = nil
Root.kind = nil
print(pcall(look))
Root.kind = function() return "again" end
several(3)
classes[4].__index = { kind = function() return "other" end, get = Root.get, shared = 3, number = 44 }
several(3)
classes[4].__index = function(_, name) return name == "kind" and function() return "made" end or name == "get" and Root.get or 5 end
several(3)
classes[4].__index = classes[4]
several(3)
setmetatable(classes[7], { __index = classes[8] })
several(3)
for at = 1, 60, 9 do setmetatable(objects[at], classes[at % 5 + 1]) end
several(3)
for at = 1, 60, 4 do objects[at].shared, objects[at].value = nil, at end
several(3)

-- Names and classes that go, and others that take their memory.
local sum = 0
local get = function(object, name) return object[name] end
for round = 1, 60 do
  local made = class(Root)
  local code = "local a, b = ... local s = 0 for i = 1, 30 do local o = i % 2 == 0 and a or b s = s + (o.name" .. round
    .. " or 0) + (o.none" .. round .. " and 1 or 0) end return s"
  made["name" .. round] = round
  local read = loadstring(code)
  for at = 1, 8 do
    local other = class(at % 2 == 0 and made or Root)
    sum = sum + read(setmetatable({}, other), setmetatable({ x = 1 }, made))
  end
  sum = sum + get(setmetatable({}, made), "shared")
  if round % 6 == 0 then collectgarbage() end
end
print(sum)
