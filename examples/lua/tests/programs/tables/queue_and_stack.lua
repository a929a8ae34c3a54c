local Queue = {}
Queue.__index = Queue
function Queue.new() return setmetatable({ first = 1, last = 0, items = {} }, Queue) end
function Queue:push(value) self.last = self.last + 1 self.items[self.last] = value end
function Queue:pop()
  if self.first > self.last then return nil end
  local value = self.items[self.first]
  self.items[self.first] = nil
  self.first = self.first + 1
  return value
end
local q = Queue.new()
for i = 1, 5 do q:push(i * i) end
print(q:pop(), q:pop())
q:push("late")
local out = {}
for value in function() return q:pop() end do out[#out + 1] = value end
print(table.concat(out, " "), q:pop())
local stack = {}
for i = 1, 5 do stack[#stack + 1] = i end
while #stack > 0 do io.write(table.remove(stack), " ") end
print()
