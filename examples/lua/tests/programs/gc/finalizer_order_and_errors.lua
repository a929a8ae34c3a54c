-- Finalizers run in the reverse order of creation.
local order = {}
local list = {}
for i = 1, 5 do
  local p = newproxy(true)
  getmetatable(p).__gc = function() order[#order + 1] = i end
  list[i] = p
end
list = nil
local p = nil
collectgarbage()
print(table.concat(order, " "))
do
  local bad = newproxy(true)
  getmetatable(bad).__gc = function() error("in finalizer", 0) end
end
local ok, message = pcall(collectgarbage)
print(ok, message)
collectgarbage()
print("goes on")
