-- A chunk that is loaded before the hook is set is seen by it, if somebody who was loaded before names what sets hooks.
local loop = assert(loadstring("local n = 0 for i = 1, 200000 do n = n + i end return n", "=loop"))
local endless = assert(loadstring("while true do end", "=endless"))
local count = 0
debug.sethook(function() count = count + 1 end, "", 1000)
local sum = loop()
debug.sethook()
print(sum, count > 100)

-- What runs without end is stopped so.
local function limited(f, most)
  debug.sethook(function() error("too long", 0) end, "", most)
  local ok, message = pcall(f)
  debug.sethook()
  return ok, message
end
print(limited(endless, 100000))
print(limited(loop, 100000))
print(limited(function() return 1 end, 100000))

-- So are local variables of a chunk that asks for none.
local inner = assert(loadstring("local first, second = ... return (function(show) local third = first show() return third, second end)(...)", "=inner"))
print(select("#", pcall(inner, function()
  local names = {}
  for i = 1, 3 do names[#names + 1] = (debug.getlocal(2, i)) or "none" end
  print(table.concat(names, " "))
end, 2)))

-- And environments.
local where = assert(loadstring("local name = getname() return name", "=where"))
print(pcall(where))
setfenv(where, { getname = function() return getfenv(2).name end, name = "mine" })
print(pcall(where))
