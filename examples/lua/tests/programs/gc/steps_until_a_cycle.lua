collectgarbage()
collectgarbage("stop")
local weak = setmetatable({}, { __mode = "v" })
weak[1] = {}
for i = 1, 1000 do local t = { i } end
print(weak[1] ~= nil)
local steps = 0
repeat steps = steps + 1 until collectgarbage("step", 1) or steps > 100000
repeat steps = steps + 1 until collectgarbage("step", 1) or steps > 100000
print(steps <= 100000, weak[1])
collectgarbage("restart")
print(collectgarbage("step", 100000))
