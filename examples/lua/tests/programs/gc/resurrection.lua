local saved
local runs = 0
do
  local p = newproxy(true)
  getmetatable(p).__gc = function(self) runs = runs + 1 saved = self end
end
collectgarbage() collectgarbage()
print(runs, type(saved))
saved = nil
collectgarbage() collectgarbage()
print(runs)
local t = setmetatable({}, { __mode = "v" })
do
  local p = newproxy(true)
  t[1] = p
  getmetatable(p).__gc = function() runs = runs + 10 end
end
collectgarbage()
print(runs, t[1])
