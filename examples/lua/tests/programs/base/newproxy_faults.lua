-- Only a proxy lends its metatable.
local P = print
P("np1", pcall(newproxy, io.stdout))
P("np2", pcall(newproxy, 5))
P("np3", pcall(newproxy, {}))
P("np4", pcall(newproxy, newproxy()))
P("np5", pcall(function() return getmetatable(newproxy(newproxy(true))) ~= nil end))
P("np6", type(select(2, pcall(newproxy, nil), pcall(newproxy))))
P("np7", type(select(2, pcall(newproxy, newproxy(true)))))
