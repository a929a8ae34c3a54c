local function ring(size)
  local items, head, count = {}, 0, 0
  return {
    push = function(v) items[(head + count) % size] = v if count < size then count = count + 1 else head = (head + 1) % size end end,
    all = function() local out = {} for i = 0, count - 1 do out[#out + 1] = items[(head + i) % size] end return out end,
  }
end
local r = ring(4)
for i = 1, 10 do r.push(i) end
print(table.concat(r.all(), " "))
local Heap = {}
Heap.__index = Heap
function Heap.new(less) return setmetatable({ less = less or function(a, b) return a < b end }, Heap) end
function Heap:push(v)
  self[#self + 1] = v
  local i = #self
  while i > 1 and self.less(self[i], self[math.floor(i / 2)]) do
    local p = math.floor(i / 2)
    self[i], self[p] = self[p], self[i]
    i = p
  end
end
function Heap:pop()
  local top = self[1]
  self[1] = self[#self]
  self[#self] = nil
  local i = 1
  while true do
    local smallest = i
    for c = 2 * i, 2 * i + 1 do if self[c] and self.less(self[c], self[smallest]) then smallest = c end end
    if smallest == i then return top end
    self[i], self[smallest] = self[smallest], self[i]
    i = smallest
  end
end
local h = Heap.new()
for _, v in ipairs({ 5, 3, 8, 1, 9, 2, 7 }) do h:push(v) end
local out = {}
while #h > 0 do out[#out + 1] = h:pop() end
print(table.concat(out, " "))
local words = Heap.new(function(a, b) return #a > #b or #a == #b and a < b end)
for w in ("the longest words come first in this heap"):gmatch("%a+") do words:push(w) end
out = {}
while #words > 0 do out[#out + 1] = words:pop() end
print(table.concat(out, " "))
