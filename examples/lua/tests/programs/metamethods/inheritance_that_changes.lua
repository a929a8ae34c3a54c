-- What is found in other tables is forgotten when these change, also by code that knows tables of the same shape.
local objects, one, other = {}, { x = 1 }, { x = 2 }
local meta = { __index = one }
for i = 1, 5 do objects[i] = setmetatable({}, meta) end
local function get(object) return object.x end
local function each(count)
  local sum = 0
  for i = 1, count do sum = sum + (get(objects[i % 5 + 1]) or 0) end
  return sum
end
print(each(200))
meta.__index = other
print(get(objects[1]), get(objects[2]), each(200))
rawset(meta, "__index", one)
print(get(objects[1]), get(objects[2]), each(200))
meta.__index = function() return 7 end
print(get(objects[1]), get(objects[2]), each(200))
meta.__index = nil
print(get(objects[1]), get(objects[2]), each(200))

local function extend(object) object.second = "new" end
local function plain()
  local object = {}
  object.first = "old"
  return object
end
for _ = 1, 200 do extend(plain()) end
local parent = plain()
local family, children = { __index = parent }, {}
for i = 1, 5 do children[i] = setmetatable({}, family) end
local function second(child) return child.second end
for i = 1, 200 do second(children[i % 5 + 1]) end
print(second(children[1]), second(children[2]))
extend(parent)
print(second(children[1]), second(children[2]))
parent.second = nil
print(second(children[1]), second(children[2]))
