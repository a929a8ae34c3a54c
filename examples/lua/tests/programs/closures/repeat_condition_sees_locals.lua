local i = 0
repeat
  i = i + 1
  local square = i * i
until square > 50
print(i)
local fs = {}
local n = 0
repeat
  n = n + 1
  local captured = n * 10
  fs[n] = function() captured = captured + 1 return captured end
until (function() return captured >= 30 end)()
print(#fs, fs[1](), fs[1](), fs[2](), fs[3]())
local k = 0
repeat
  k = k + 1
  local stop = k == 4
  if k == 2 then local inner = function() return k end end
  if k == 10 then break end
until stop
print(k)
repeat local a, b = 1, 2 local f = function() return a + b end until f() == 3
print("end")
