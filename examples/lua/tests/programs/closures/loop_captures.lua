local fs = {}
for i = 1, 5 do fs[i] = function() i = i + 1 return i end end
print(fs[1](), fs[1](), fs[2](), fs[5]())
local gs = {}
for key, value in pairs({ a = 1 }) do gs[#gs + 1] = function() return key, value end end
print(gs[1]())
local ws = {}
local n = 0
while n < 3 do
  n = n + 1
  local copy = n
  ws[n] = function() copy = copy * 2 return copy, n end
end
print(ws[1]()) print(ws[2]()) print(ws[1]()) print(ws[3]())
local rs = {}
local i = 0
repeat
  i = i + 1
  local inner = i * 100
  rs[i] = function() return inner end
until inner >= 300
print(rs[1](), rs[2](), rs[3](), #rs)
