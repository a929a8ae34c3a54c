local p = newproxy(true)
getmetatable(p).__gc = function() print("finalized at the end") end
local q = newproxy(true)
getmetatable(q).__gc = function() io.write("and this before it\n") end
print("the last statement")
