-- Objects that each iteration makes from those of the one before: they are as if they had been made, whoever looks at them.
local V = {}
V.__index = V
local function new(x, y) return setmetatable({x = x, y = y}, V) end
V.__add = function(a, b) return new(a.x + b.x, a.y + b.y) end
V.__mul = function(a, b) return new(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x) end
V.__tostring = function(a) return "(" .. tostring(a.x) .. "," .. tostring(a.y) .. ")" end
local step = new(1, 2)

local function sum(n, v)
  for i = 1, n do v = v + step end
  return v
end

local function sometimes(n)
  local v = new(0, 0)
  for i = 1, n do
    if i % 3 == 0 then v = v + step end
  end
  return tostring(v)
end

local function either(n)
  local v = new(0, 0)
  for i = 1, n do
    if i % 2 == 0 then v = v + step else v = v + new(i, 1) end
  end
  return tostring(v)
end

local function changed(n)
  local v = new(0, 0)
  for i = 1, n do
    v.x = v.x + i
    v = v + step
    v.y = v.y - 1
  end
  return tostring(v)
end

local function swapped(n)
  local a, b = new(0, 1), new(1, 0)
  for i = 1, n do a, b = b, new((a.x + b.x) % 1000, (a.y + b.y) % 1000) end
  return tostring(a) .. tostring(b)
end

local function twins(n)
  local a, b = new(0, 1), new(5, 5)
  local same = 0
  for i = 1, n do
    a = a + step
    if i % 50 == 0 then b = a end
    if a == b then same = same + 1 end
    b.x = b.x + 1
  end
  return tostring(a) .. tostring(b) .. same
end

local function behind(n)
  local v, last = new(0, 0), nil
  for i = 1, n do
    last = v
    v = v + step
    last.x = last.x + 100
  end
  return tostring(v) .. tostring(last)
end

local function kept(n)
  local v, all = new(0, 0), {}
  for i = 1, n do
    v = v + step
    if i % 97 == 0 then all[#all + 1] = v end
    if i % 53 == 0 then v.y = v.y * -1 end
  end
  local text = {}
  for i, one in ipairs(all) do text[i] = tostring(one) end
  return table.concat(text, " ") .. tostring(v)
end

local function left(n, at)
  local v = new(0, 0)
  for i = 1, n do
    v = v + step
    if i == at then return v, i end
  end
  return v
end

local function caught(n)
  local v, functions = new(0, 0), {}
  for i = 1, n do
    v = v + step
    if i % 100 == 0 then
      local now = v
      functions[#functions + 1] = function() now.x = now.x + 1; return tostring(now) end
    end
  end
  local text = {}
  for i, f in ipairs(functions) do text[i] = f() .. f() end
  return table.concat(text) .. tostring(v)
end

local function nested(rows, columns)
  local all = new(0, 0)
  for i = 1, rows do
    local row = new(i, 0)
    for j = 1, columns do row = row + step end
    all = all + row
  end
  return tostring(all)
end

local function types(n)
  local v = new(0, 0)
  for i = 1, n do
    v = new(v.x + 1, i < n - 5 and v.y or "text" .. i)
  end
  return tostring(v)
end

local function grown(n)
  local v = new(0, 0)
  for i = 1, n do
    v = v + step
    if i == n - 3 then v.z = i; v[1] = "one" end
    if i == n - 2 then return tostring(v) .. tostring(v.z) .. tostring(v[1]) end
  end
  return tostring(v) .. tostring(v.z)
end

local function again(n)
  local v, first = new(0, 0), new(7, 7)
  for i = 1, n do
    v = v + step
    if i % 10 == 0 then v = first end
    v.y = v.y + 1
  end
  return tostring(v) .. tostring(first)
end

local function tree(n)
  local list = {next = nil, value = 0}
  for i = 1, n do
    list = {next = list, value = list.value + i}
    if i % 100 == 0 then list.next = nil end
  end
  local length = 0
  while list do length, list = length + 1, list.next end
  return length
end

local function pairs_of(n)
  local p = {first = {1}, second = 0}
  for i = 1, n do
    p = {first = {p.first[1] + 1}, second = p.second + p.first[1]}
  end
  return p.first[1] .. " " .. p.second
end

local function looping(n)
  local state = {i = 0, sum = 0}
  while state.i < n do
    state = {i = state.i + 1, sum = state.sum + state.i}
    repeat state = {i = state.i, sum = state.sum + 0.5} until state.sum % 1 == 0
  end
  return state.i .. " " .. state.sum
end

local function mandelbrot(size, limit)
  local inside = 0
  for row = 0, size - 1 do
    for column = 0, size - 1 do
      local c = new(2 * column / size - 1.5, 2 * row / size - 1)
      local z, n = new(0, 0), 0
      while n < limit and z.x * z.x + z.y * z.y < 4 do
        z = z * z + c
        n = n + 1
      end
      if n == limit then inside = inside + 1 end
    end
  end
  return inside
end

local function counted(n)
  local v, sum = {}, 0
  for i = 1, n do
    v.count = (v.count or 0) + 1
    if i % 3 == 0 then
      sum = sum + v.count
      v = {}
    end
  end
  return sum .. " " .. tostring(v.count)
end

local function filled(n)
  local v = setmetatable({}, V)
  v.x, v.y = 0, 0
  for i = 1, n do
    local w = setmetatable({}, V)
    w.x = v.x + 1
    if i % 7 == 0 then w.y = v.x else w.y = v.y end
    v.x = -1
    v = w
  end
  return tostring(v)
end

local function from_others(list)
  local sum = new(0, 0)
  for _, one in ipairs(list) do sum = sum + one end
  local largest = list[1]
  for _, one in ipairs(list) do
    if one.x > largest.x then largest = new(one.x, 0) end
  end
  return tostring(sum) .. tostring(largest)
end

local function failing(n)
  local v = new(0, 0)
  local ok, message = pcall(function()
    for i = 1, n do
      v = v + step
      if i == n then v.x = v.x .. nil end
    end
  end)
  return tostring(ok) .. tostring(v)
end

local function waiting(n)
  local thread = coroutine.wrap(function()
    local v = new(0, 0)
    for i = 1, n do
      v = v + step
      if i % 60 == 0 then coroutine.yield(tostring(v)) end
    end
    return "end"
  end)
  local text = {}
  repeat text[#text + 1] = thread() until text[#text] == "end"
  return table.concat(text, " ")
end

for round = 1, 3 do
  print(tostring(sum(300, new(0, 0))), tostring(sum(1, step)), tostring(sum(0, step)), sum(0, step) == step)
  print(sometimes(300), either(300), changed(300), swapped(300))
  print(twins(300))
  print(behind(300))
  print(kept(300))
  print(tostring(left(300, 250)), tostring(left(300, 1)), tostring(left(300)))
  print(caught(300))
  print(nested(40, 30), nested(300, 2), nested(2, 300))
  print(types(300), grown(300), again(303))
  print(tree(1050), pairs_of(300), looping(200))
  print(mandelbrot(30, 40))
  print(counted(301), filled(301))
  local list = {}
  for i = 1, 300 do list[i] = new(i * 7 % 301, i) end
  print(from_others(list), from_others({step}))
  print(failing(250), waiting(300))
end
local others = setmetatable({x = 1, y = 1}, {__add = function(a, b) return new(-1, -1) end})
print(tostring(sum(300, others)), tostring(sum(3, others)), pcall(sum, 3, {x = 1, y = 2}))
