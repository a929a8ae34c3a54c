local function thrower(level) error("message", level) end
local function middle(level) thrower(level) end
local function outer(level)
  middle(level)
end
for level = 0, 6 do
  print(level, pcall(outer, level))
end
print(pcall(function() error("negative", -1) end))
print(pcall(function() error("fraction", 1.9) end))
print(pcall(function() error("text", "2") end))
print(pcall(error, "x", {}))
