local t = setmetatable({}, { __add = function(a, b) error("cannot add", 2) end })
print(pcall(function() return t + 1 end))
local x = t + 1
