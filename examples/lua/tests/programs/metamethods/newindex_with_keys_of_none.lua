-- A key that no table may have is wrong before a metamethod sees it.
local P = print
P("nk1", pcall(function() local t = setmetatable({}, {__newindex = function(t, k, v) print("ni", k, v) end}) t[nil] = 1 t[0/0] = 2 end))
P("nk2", pcall(function() local t = setmetatable({}, {__newindex = {}}) t[nil] = 1 end))
P("nk3", pcall(function() local t = setmetatable({}, {__newindex = setmetatable({}, {__newindex = print})}) t[0/0] = 1 end))
P("nk4", pcall(function() local t = {} t[nil] = 1 end))
P("nk5", pcall(rawset, {}, nil, 1))
P("nk6", pcall(function() local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v) end}) t[nil] = 1 end))
P("nk7", pcall(function() local t = {} local k t[k] = 1 end))
P("nk8", pcall(function() local t = {[nil] = 1} end))
P("nk9", pcall(function() local t = setmetatable({}, {__index = function(t, k) return tostring(k) end}) return t[nil], t[0/0] ~= nil end))
