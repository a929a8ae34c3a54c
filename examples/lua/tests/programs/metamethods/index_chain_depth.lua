local bottom = { found = "deep" }
local t = bottom
for i = 1, 90 do t = setmetatable({}, { __index = t }) end
print(t.found, t.missing)
for i = 1, 20 do t = setmetatable({}, { __index = t }) end
print(pcall(function() return t.found end))
local loop = {}
setmetatable(loop, { __index = loop })
print(pcall(function() return loop.x end))
local a, b = {}, {}
setmetatable(a, { __index = b })
setmetatable(b, { __index = a })
print(pcall(function() return a.x end))
setmetatable(a, { __newindex = b })
setmetatable(b, { __newindex = a })
print(pcall(function() a.x = 1 end))
