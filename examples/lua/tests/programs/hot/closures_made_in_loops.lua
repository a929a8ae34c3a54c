local sum = 0
for i = 1, 20000 do
  local f = function(x) return x + i end
  sum = sum + f(1)
end
print(sum)
local list = {}
for i = 1, 1000 do
  local n = i
  list[i] = { inc = function() n = n + 1 return n end, get = function() return n end }
end
for round = 1, 30 do for i = 1, 1000 do list[i].inc() end end
local total = 0
for i = 1, 1000 do total = total + list[i].get() end
print(total)
local shared = 0
local function each(n, f) for i = 1, n do f(i) end end
each(30000, function(i) shared = shared + i end)
print(shared)
local outer = 0
local function hot()
  local x = 0
  local function inc() x = x + 1 end
  for i = 1, 1000 do inc() end
  outer = outer + x
end
for i = 1, 30 do hot() end
print(outer)
