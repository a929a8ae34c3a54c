local plain = newproxy()
local also = newproxy(false)
local own = newproxy(true)
print(type(plain), getmetatable(plain), getmetatable(also))
print(type(getmetatable(own)))
getmetatable(own).__index = function(_, key) return "field " .. key end
getmetatable(own).__len = function() return 7 end
getmetatable(own).__call = function(_, ...) return select("#", ...), ... end
print(own.name, #own, own("a", nil))
local shared = newproxy(own)
print(getmetatable(shared) == getmetatable(own), shared.other, shared == own)
print(pcall(newproxy, 1))
print(pcall(newproxy, {}))
print(pcall(newproxy, plain))
print(pcall(function() return plain.x end))
