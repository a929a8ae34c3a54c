local real = print
print = function(...) real("replaced", ...) end
print(1)
print = real
local old = string.upper
string.upper = function(s) return "patched " .. old(s) end
print(("x"):upper())
string.upper = old
local saved = _G
_G = nil
saved.print(_G, saved.print ~= nil)
_G = saved
local type_was = type
type = nil
print(pcall(function() return type(1) end))
type = type_was
print(type(1))
ipairs, pairs = nil, nil
print(pcall(function() for i in ipairs({}) do end end))
