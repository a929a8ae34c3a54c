-- All arguments of `debug.traceback` but a level belong to the message.
local P = print
P("tb1", pcall(debug.traceback, "x", "y"))
P("tb2", pcall(debug.traceback, "x", {}))
P("tb3", pcall(debug.traceback, {}, "y") )
P("tb4", pcall(debug.traceback, nil, "y"))
P("tb5", pcall(debug.traceback, nil))
P("tb6", pcall(debug.traceback, coroutine.create(function() end), "m", "y"))
P("tb7", pcall(debug.traceback, 5, "1"))
P("tb8", pcall(debug.traceback, "x", 50))
P("tb10", pcall(debug.traceback, true))
P("tb11", pcall(debug.traceback, "x", nil))
P("tb12", pcall(debug.traceback, "x", 0))
