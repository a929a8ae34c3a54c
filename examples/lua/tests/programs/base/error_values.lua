print(pcall(error, 12))
print(pcall(error, true))
print(pcall(error, 1.5))
local t = {}
print(select(2, pcall(error, t)) == t)
local f = function() end
print(select(2, pcall(error, f)) == f)
local c = coroutine.create(f)
print(select(2, pcall(error, c)) == c)
print(pcall(function() error("with position") end))
print(pcall(function() error("number is text" .. 5) end))
print(pcall(function() error(5) end))
print(pcall(function() error({}, 1) end) == false)
print(pcall(function() error(nil, 1) end))
