-- What `debug.getfenv` gives for each kind of value.
local P = print
P("fe2", pcall(debug.getfenv))
P("fe3", debug.getfenv(print) == _G, debug.getfenv(1), debug.getfenv("x"), debug.getfenv(nil), debug.getfenv(true))
P("fe4", debug.getfenv(io.stdout) == _G, type(debug.getfenv(io.stdout)), debug.getfenv(io.lines) == debug.getfenv(io.stdout), debug.getfenv(io.open) == _G)
P("fe5", debug.getfenv(coroutine.create(print == nil and print or function() end)) == _G, debug.getfenv(newproxy()) == _G)
P("fe6", debug.getfenv(string.rep) == _G, debug.getfenv(io.read) == _G, debug.getfenv(os.time) == _G, debug.getfenv(io.popen) == _G)
for k, v in pairs(debug.getfenv(io.read)) do if debug.getfenv(io.read) ~= _G then print("env", type(k), type(v)) end end
P("fe7", type(debug.getfenv(io.stdout).__close), type(debug.getfenv(io.read).__close), type(debug.getfenv(io.popen).__close))
P("fe8", pcall(debug.setfenv, 1, {}))
P("fe9", pcall(debug.setfenv, io.stdout, 5))
P("fe10", pcall(debug.setfenv, {}, {}))
P("fe11", pcall(getfenv, io))
P("fe12", pcall(getfenv, 100))
P("fe13", pcall(getfenv, -1))
P("fe14", (pcall(setfenv, 0.5, {})))
