-- In Lua 5.1 `__len` is not asked for tables, nor for texts.
local t = setmetatable({ 1, 2, 3 }, { __len = function() return 100 end })
print(#t)
getmetatable("").__len = function() return 100 end
print(#"abc")
getmetatable("").__len = nil
local u = newproxy(true)
getmetatable(u).__len = function(self, other) return type(self) end
print(#u)
debug.setmetatable(5, { __len = function(n) return n * 2 end })
local n = 21
print(#n)
debug.setmetatable(5, nil)
print(pcall(function() return #n end))
print(pcall(function() return #nil end))
print(pcall(function() return #newproxy() end))
local function f() end
print(pcall(function() return #f end))
