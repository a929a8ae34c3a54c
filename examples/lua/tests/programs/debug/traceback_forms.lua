local function inner() return debug.traceback("message") end
local function outer() local s = inner() return s end
print(outer())
print(debug.traceback("with level 2", 2))
print(debug.traceback("with level 0", 0))
print(debug.traceback(nil) ~= nil, debug.traceback(12), debug.traceback(print) == print)
local t = {}
print(debug.traceback(t) == t)
print((debug.traceback():gsub("\n", "|")))
local object = { method = function(self) return (debug.traceback("in method")) end }
print((object:method()))
function a_global() return (debug.traceback("in global")) end
print((a_global()))
print(debug.traceback("level far", 50))
