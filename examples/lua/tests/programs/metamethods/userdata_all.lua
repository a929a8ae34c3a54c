local u = newproxy(true)
local meta = getmetatable(u)
local data = {}
meta.__index = function(_, k) return data[k] or "none" end
meta.__newindex = function(_, k, v) data[k] = v end
meta.__call = function(_, ...) return ... end
meta.__add = function(a, b) return type(a) .. "+" .. type(b) end
meta.__concat = function(a, b) return type(a) .. ".." .. type(b) end
meta.__lt = function() return true end
meta.__le = function() return false end
meta.__tostring = function() return "proxy" end
u.x = 5
print(u.x, u.y, u(1, 2), u + 1, 1 + u, u .. "s", "s" .. u, u < u, u <= u, tostring(u))
print(pcall(function() return u - 1 end))
print(pcall(next, u))
print(pcall(rawset, u, 1, 1))
local plain = newproxy()
print(pcall(function() plain.x = 1 end))
print(pcall(function() return plain() end))
print(pcall(function() return plain .. "x" end))
print(pcall(function() return plain < plain end))
