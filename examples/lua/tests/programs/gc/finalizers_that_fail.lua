-- The error of a finalizer is that of what made the collector work: a call of it, or an allocation.
local function fin(f) local p = newproxy(true) getmetatable(p).__gc = f return nil end
print("1", pcall(function() fin(function() error("oops") end) collectgarbage("collect") end))
print("1b", pcall(function() fin(function() error("oops", 0) end) collectgarbage() end))
print("3", pcall(function() fin(function() local x = nil + 1 end) collectgarbage() return "after" end))
print("4", pcall(function() fin("nofunc") collectgarbage() return "after" end))
print("5", pcall(function() fin(function() error() end) collectgarbage() return "after" end))
-- two, one fails; the rest run on the next
local ran = {}
print("6", pcall(function() for i = 1, 5 do fin(function() ran[#ran+1] = i if i == 3 then error("third") end end) end collectgarbage() return "after" end), table.concat(ran, ","))
print("6b", pcall(collectgarbage), table.concat(ran, ","))
-- steps
local seen
print("7", pcall(function() fin(function() seen = true error("in step") end) repeat until collectgarbage("step", 1000) and seen end))
print("7b", seen)
-- allocation
seen = nil
print("8", pcall(function() fin(function() seen = true error("in allocation") end) local t repeat t = {} until seen end))
seen = nil
print("9", pcall(function() fin(function() seen = true error("in concat") end) local t, n = "", 0 repeat n = n + 1 t = "x" .. n until seen end))
seen = nil
print("10", pcall(function() fin(function() seen = true error("in closure") end) local t repeat t = function() return t end until seen end))

-- in a coroutine
print("12", coroutine.resume(coroutine.create(function() fin(function() error("in co") end) collectgarbage() return "after" end)))
print("13", xpcall(function() fin(function() error("handled") end) collectgarbage() end, function(m) return "H " .. tostring(m) end))
print("14", xpcall(function() fin(function() error("handled") end) collectgarbage() end, debug.traceback))
-- yield in finalizer
print("15", coroutine.resume(coroutine.create(function() fin(function() coroutine.yield(5) end) collectgarbage() return "after" end)))
-- finalizer allocates and collects
print("16", pcall(function() fin(function() collectgarbage() error("deep") end) collectgarbage() return "after" end))
-- pcall inside
print("17", pcall(function() fin(function() print("in", pcall(error, "x")) end) collectgarbage() return "after" end))
print("18", pcall(function() local p = newproxy(true) getmetatable(p).__gc = function(o) print(o == nil, type(o), debug.getinfo(2, "S") and debug.getinfo(2, "S").what, debug.getinfo(1,"n").name) end p = nil collectgarbage() end))
print("19", pcall(function() fin(function() error(setmetatable({}, {__tostring = function() return "obj" end})) end) collectgarbage() return "after" end))
print(debug.gethook())
