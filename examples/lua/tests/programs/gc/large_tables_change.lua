-- Large tables that change while the collector works.
local size = 6000
local list, map, weak = {}, {}, setmetatable({}, { __mode = "v" })
for i = 1, size do
  list[i] = { i }
  map[-i] = { i }
  weak[-i] = list[i]
end

-- Objects go from one table to the other, and back, with nothing else to keep them.
local at = 1
for round = 1, 15000 do
  at = (at * 69069 + 1) % size
  local other = (at * 31 + round) % size + 1
  list[at + 1], map[-other] = map[-other], list[at + 1]
  if round % 16 == 0 then list[at + 1] = { list[at + 1][1] } end
end
local sum = 0
for i = 1, size do sum = sum + list[i][1] + map[-i][1] end
print(sum == size * (size + 1))

-- Elements move.
for round = 1, 100 do
  table.insert(list, 1, table.remove(list))
  table.insert(list, table.remove(list, 1 + round % 50))
  local garbage = {}
  for i = 1, 200 do garbage[i] = { i } end
end
sum = 0
for i = 1, size do sum = sum + list[i][1] + map[-i][1] end
print(#list, sum == size * (size + 1))

-- What is in a weak table is there or is not, but never something else.
local found = 0
for key, value in pairs(weak) do
  assert(value[1] == -key)
  found = found + 1
end
print(found > 0, found <= size)
list, map = nil, nil
collectgarbage()
print(next(weak))

-- A weak list.
local things, kept = setmetatable({}, { __mode = "v" }), {}
for i = 1, 5000 do
  local thing = { i }
  things[i] = thing
  if i % 5 == 0 then kept[#kept + 1] = thing end
end
collectgarbage()
local left = 0
for i, thing in pairs(things) do
  assert(thing[1] == i and i % 5 == 0)
  left = left + 1
end
print(left, #kept, #things == 5000 or things[#things + 1] == nil)
