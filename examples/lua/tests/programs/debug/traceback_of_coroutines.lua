local function inner() coroutine.yield("paused") end
local function outer() inner() end
local co = coroutine.create(outer)
print(debug.traceback(co))
coroutine.resume(co)
print(debug.traceback(co))
print(debug.traceback(co, "with message"))
print(debug.traceback(co, "at level 1", 1))
print(debug.traceback(co, nil) ~= nil)
coroutine.resume(co)
print(debug.traceback(co))
local failing = coroutine.create(function() local function deep() error("broken") end deep() end)
print(coroutine.resume(failing))
print(debug.traceback(failing))
