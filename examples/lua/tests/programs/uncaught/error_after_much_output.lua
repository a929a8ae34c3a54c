for i = 1, 2000 do print(i, ("x"):rep(i % 50)) end
local t
t.field = 1
