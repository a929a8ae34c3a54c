local log = {}
local function make(name)
  local p = newproxy(true)
  getmetatable(p).__gc = function(self) log[#log + 1] = name .. " " .. type(self) end
  return p
end
local kept = make("kept")
do local a, b, c = make("a"), make("b"), make("c") end
(function() make("temporary") end)()
collectgarbage() collectgarbage()
table.sort(log)
print(table.concat(log, ", "))
kept = nil
collectgarbage() collectgarbage()
print(log[#log])
