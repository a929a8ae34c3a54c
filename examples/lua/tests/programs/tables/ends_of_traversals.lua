-- Where loops by `ipairs` and `pairs` end: at holes, at the end of an array, in a hash part, and in tables that change meanwhile.
local function by_index(t)
  local count, sum = 0, 0
  for i, v in ipairs(t) do count, sum = count + 1, sum + i * v end
  return count, sum
end

local function by_pair(t)
  local count, sum = 0, 0
  for k, v in pairs(t) do count, sum = count + 1, sum + (tonumber(k) or #k) * v end
  return count, sum
end

local function only_keys(t)
  local sum = 0
  for k in pairs(t) do sum = sum + (tonumber(k) or #k) end
  for k in next, t do sum = sum + 2 * (tonumber(k) or #k) end
  for i in ipairs(t) do sum = sum + 3 * i end
  return sum
end

local function sparse(from, to, step)
  local t = {}
  for i = to, from, -step do t[i] = i end
  return t
end

local hole = { 1, 2, 3, 4, 5 }
hole[3] = nil
local behind = { 1, 2, 3 }
behind[5] = 5
behind[4] = 4
local mixed = { 1, 2, 3, x = 4, yy = 5 }
local removed = { a = 1, bb = 2, ccc = 3, [10] = 4, [20] = 5, [2.5] = 6 }
removed[20], removed[2.5] = nil, nil
local zero = { [0] = 7, 1, 2 }
local tables = {
  {}, { 1 }, { 1, 2, 3 }, hole, behind, sparse(1, 20, 1), sparse(2, 20, 2), mixed, removed, zero, { x = 1 }, { [1] = 1 },
  { n = 3, 5, 6, [4] = 7 }, { [-1] = 1, [1] = 2, [2] = 3 },
}
for round = 1, 200 do
  for number, t in ipairs(tables) do
    if round == 1 or round == 200 then
      print(number, by_index(t))
      print(number, by_pair(t))
      print(number, only_keys(t))
    else
      by_index(t) by_pair(t) only_keys(t)
    end
  end
end

-- A loop sees what is appended while it runs, and not what is behind a hole that it makes.
local function growing(n)
  local t, count = { 1 }, 0
  for i, v in ipairs(t) do
    count = count + v
    if i < n then t[i + 1] = i + 1 end
  end
  return count
end
local function shrinking(n)
  local t, count = {}, 0
  for i = 1, n do t[i] = i end
  for i, v in ipairs(t) do
    count = count + v
    t[n - i + 1] = nil
  end
  return count
end
local function emptied(n)
  local t, count = {}, 0
  for i = 1, n do t["k" .. i] = i end
  for k, v in pairs(t) do
    count = count + v
    t[k] = nil
  end
  return count, next(t)
end
for n = 1, 60 do
  local a, b, c, d = growing(n), shrinking(n), emptied(n)
  if n % 20 == 0 then print(n, a, b, c, d) end
end

-- The variable of the loop is its own, and the loop's end leaves others alone.
local i, v = "i", "v"
for i, v in ipairs({ 5, 6 }) do i, v = nil, nil end
for i, v in pairs({ 5, 6, x = 7 }) do i, v = nil, nil end
print(i, v)

-- Other values in place of the table, and of where the loop begins.
print(pcall(function() for i in ipairs() do end end))
print(pcall(function() for i, v in ipairs("text") do end end))
local f, s = ipairs({ 7, 8, 9 })
for i, v in f, s, 1 do print(i, v) end
for i, v in f, s, -1 do print(i, v) end
for i, v in f, s, 0.5 do print(i, v) end
print(pcall(function() for i, v in f, 5, 0 do end end))
local proxy = setmetatable({ 1 }, { __index = function(_, k) if k < 4 then return k * 10 end end })
print(by_index(proxy))
