local a = { v = 1 }
local b = a
local s = 0
for i = 1, 10000 do
  a.v = a.v + 1
  s = s + b.v
end
print(s, a.v)
local t = { n = 0 }
local function bump() t.n = t.n + 1 end
local seen = 0
for i = 1, 10000 do
  local before = t.n
  bump()
  seen = seen + (t.n - before)
end
print(seen)
local list = { 1, 2, 3 }
local alias = list
for i = 1, 5000 do
  list[1] = list[1] + alias[2]
  alias[2] = list[3] + i % 2
end
print(list[1], list[2], list[3])
local limit = { n = 10 }
local runs = 0
local i = 0
while i < limit.n do
  i = i + 1
  runs = runs + 1
  if i == 5 then limit.n = 20000 end
end
print(runs)
local x = setmetatable({}, { __index = function(_, k) runs = runs + 1 return runs end })
local sum = 0
for j = 1, 10000 do sum = sum + x.anything end
print(sum, runs)
