local events = {}
local function resource(name)
  local p = newproxy(true)
  local m = getmetatable(p)
  m.__index = { name = name }
  m.__gc = function(self)
    local t = {}
    for i = 1, 100 do t[i] = self.name .. i end
    events[#events + 1] = #table.concat(t)
    local ok, e = pcall(error, "inside", 0)
    events[#events + 1] = e
    local co = coroutine.wrap(function(x) coroutine.yield(x + 1) end)
    events[#events + 1] = co(1)
  end
  return p
end
for i = 1, 3 do resource("r" .. i) end
collectgarbage() collectgarbage()
print(table.concat(events, " "))
local count = 0
for i = 1, 500 do
  local p = newproxy(true)
  getmetatable(p).__gc = function() count = count + 1 end
end
collectgarbage() collectgarbage()
print(count)
-- A metatable may be shared, and its finalizer set late.
local first = newproxy(true)
getmetatable(first).__gc = function() count = count + 1000 end
local second = newproxy(first)
first, second = nil, nil
collectgarbage() collectgarbage()
print(count)
