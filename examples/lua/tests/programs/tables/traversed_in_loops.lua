-- Loops by pairs and next over all parts of a table, which is changed meanwhile.
local function sorted(t)
  local all = {}
  for k, v in pairs(t) do all[#all + 1] = tostring(k) .. "=" .. tostring(v) end
  table.sort(all)
  return table.concat(all, " ")
end

local function filled()
  local t = {10, 20, nil, 40, 50}
  t.a, t.b, t.c = "A", "B", "C"
  t[0], t[-1], t[2.5], t[true] = "zero", "less", "half", "yes"
  t[1000], t[2000] = "k", "2k"
  return t
end

for round = 1, 60 do
  local t = filled()
  local text = sorted(t)
  if round % 20 == 0 then print(text) end
  -- What is removed as it comes.
  local count = 0
  for k in pairs(t) do t[k] = nil count = count + 1 end
  assert(count == 13 and next(t) == nil)
  -- What is changed as it comes, and what is removed before it comes.
  t = filled()
  for k, v in pairs(t) do t[k] = v .. "!" end
  assert(sorted(t) == text:gsub("(=%S+)", "%1!"))
  local seen = 0
  for k in pairs(t) do
    seen = seen + 1
    for other in pairs(t) do if other ~= k then t[other] = nil end end
  end
  assert(seen == 1, seen)
end

-- Only one variable, three of them, and none of the values.
local keys, all = 0, {}
for k in pairs({1, 2, 3, x = 1, [-5] = 2}) do keys = keys + 1 end
for k, v, more in pairs({7, 8}) do all[#all + 1] = tostring(k) .. tostring(v) .. tostring(more) end
print(keys, table.concat(all, " "))

-- next by itself, from the start and from a key; a table's own metatable is no matter in Lua 5.1.
for round = 1, 100 do
  local t = {1, 2, 3, 4, 5}
  local sum = 0
  for k, v in next, t do sum = sum + k * v end
  for k, v in next, t, nil do sum = sum + k * v end
  for k, v in next, t, 3 do sum = sum + 1000 * k * v end
  for k, v in pairs(setmetatable(t, {__pairs = error, __index = error})) do sum = sum + v end
  assert(sum == 55 + 55 + 41000 + 15, sum)
end
print(pcall(function() for k in next, {}, "no such key" do end end))
print(pcall(function() for k in pairs(nil) do end end))
print(pcall(function() for k in next do end end))
print(pcall(function() for k in nil do end end))
print(pcall(function() for k, v in {} do end end))

-- Loops in loops over the same table, left in the middle, and begun anew.
local matrix, total = {}, 0
for i = 1, 20 do matrix[i] = {} for j = 1, 20 do matrix[i][j] = i * j end matrix[i].name = i end
for round = 1, 20 do
  for i, row in pairs(matrix) do
    for j, value in pairs(row) do
      if j == "name" then total = total + value elseif value > 200 then break else total = total + value end
    end
  end
end
print(total)

-- A function in place of next, which is asked again and again; and next under another name.
local function upwards(limit, at) if at < limit then return at + 1, at * at end end
local sum, other = 0, next
for round = 1, 300 do
  for i, square in upwards, 10, 0 do sum = sum + square * i end
  for k, v in other, {round} do sum = sum + v end
end
print(sum)

-- Closures of the variables keep what they had.
local closures = {}
for k, v in pairs({"a", "b", "c"}) do closures[k] = function() k = k + 10 return k, v end end
for i = 1, 3 do print(closures[i](), (closures[i]())) end
for k in pairs({x = 1}) do k = k .. "!" print(k) end

-- Tables of many names, and of so many that they are in no slots.
for _, n in ipairs({1, 5, 6, 7, 40, 500, 513, 2000}) do
  local t, sum, count = {}, 0, 0
  for i = 1, n do t["name" .. i] = i end
  for k, v in pairs(t) do
    assert(k == "name" .. v)
    sum, count = sum + v, count + 1
    t[k] = v % 2 == 0 and v or nil
  end
  local left = 0
  for k, v in pairs(t) do left = left + 1 end
  print(n, count, sum, left)
end

-- Weak tables, of which the collector takes a part in the loop.
local weak = setmetatable({}, {__mode = "k"})
local kept = {}
for i = 1, 200 do local key = {} weak[key] = i if i % 2 == 0 then kept[#kept + 1] = key end end
local n, sum = 0, 0
for key, value in pairs(weak) do
  if n == 20 then key = nil collectgarbage() end
  n, sum = n + 1, sum + value % 2
end
assert(n >= 100 and n <= 200)
n = 0
collectgarbage()
for key, value in pairs(weak) do n = n + 1 assert(value % 2 == 0) end
print(n)

-- A coroutine that is in a loop while others change nothing.
local co = coroutine.wrap(function(t) for k, v in pairs(t) do coroutine.yield(k, v) end return "end" end)
print(co({5, 6, x = 7}))
print(co())
print(co())
print(co())
