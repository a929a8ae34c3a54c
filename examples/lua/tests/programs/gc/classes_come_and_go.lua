-- Classes that are made again and again: what code has learned of those that are gone is not taken for another.
local function class(number, parent)
  local C = { number = number }
  C.__index = C
  function C.new(x) return setmetatable({ x = x }, C) end
  function C:get() return self.x + self.number end
  function C:set(value) self.x = value; self.y = value end
  if number % 3 == 0 then C.extra = function(self) return self.y * 2 end end
  return setmetatable(C, parent)
end

local base = { shared = function(self) return self.x - 1 end }
base.__index = base

local sum, kept = 0, {}
for i = 1, 1000 do
  local C = class(i, i % 2 == 0 and base or nil)
  for j = 1, 4 do
    local object = C.new(j)
    object:set(j + i)
    sum = sum + object:get() + (object.extra and object:extra() or 0)
    if i % 2 == 0 then sum = sum + object:shared() else assert(object.shared == nil) end
    if i % 50 == 0 and j == 4 then kept[#kept + 1] = object end
  end
  if i % 300 == 0 then collectgarbage() end
end
print(sum, #kept)

-- Those that are kept are what they were.
for _, object in ipairs(kept) do sum = sum + object:get() end
print(sum)

-- One loop, which goes on while the shapes of its tables are gone between two of them.
local function record(...)
  local r = {}
  for i = 1, select("#", ...) do r[(select(i, ...))] = i end
  return r
end
local total = 0
for i = 1, 600 do
  local r = record("a", "b" .. i % 7, "c", "d" .. i % 11)
  r.first, r.second = i, r.c
  total = total + r.first + r.second + r.a + r["d" .. i % 11]
  if i % 100 == 0 then collectgarbage() end
end
print(total)

-- Keys that are data.
local words = {}
for i = 1, 500 do
  local one = {}
  for j = 1, 20 do one["word" .. (i * j) % 301] = j end
  words[i % 10] = one
end
local count = 0
for _, one in pairs(words) do for _ in pairs(one) do count = count + 1 end end
print(count)
