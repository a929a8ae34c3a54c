local up, list = 0, {}
local function run(n)
  for i = 1, n do
    up = up + i
    list[i] = up % 10
  end
end
run(20000)
print(up, #list, list[20000])
up = "10"
run(3)
print(up)
up = {}
print(pcall(run, 1))
up = setmetatable({}, { __add = function(a, b) return b end })
print(pcall(run, 5))
local function make()
  local a, b, c = 1, 2, 3
  return function() a, b, c = b, c, a + 1 return a, b, c end, function() return a + b + c end
end
local turn, sum = make()
for i = 1, 9999 do turn() end
print(turn()) print(sum())
local function outer(n)
  local total = 0
  local function middle(k)
    local function inner(j) total = total + j * k end
    for j = 1, 10 do inner(j) end
  end
  for k = 1, n do middle(k) end
  return total
end
print(outer(10), outer(1000))
