-- The functions that `ipairs` and `pairs` give, in loops that begin anywhere, and in loops that change what they run over.
local next_index = ipairs({})
local function sum_from(t, start)
  local sum, n = 0, 0
  for i, v in next_index, t, start do
    sum, n = sum + i * v, n + 1
  end
  return sum, n
end
local t = {}
for i = 1, 100 do t[i] = i % 7 end
for round = 1, 300 do
  local s, n = sum_from(t, round % 5 * 10)
  if round % 60 < 3 then print(round, s, n) end
end
for _, start in ipairs({ 1.5, -1, 99, 100, 101, "3", 2 ^ 40, 0.99, -0.5 }) do
  print(start, pcall(sum_from, t, start))
end

-- One loop for several functions.
local function each(f, s, c)
  local sum = 0
  for k, v in f, s, c do
    sum = sum + (tonumber(k) or #k) * v
    if sum > 1e9 then break end
  end
  return sum
end
local function odd(s, i)
  i = i + 2
  if s[i] then return i, s[i] end
end
local named = { a = 1, bb = 2, ccc = 3, 10, 20, 30 }
local all = 0
for round = 1, 2000 do
  local which = round % 4
  if which == 0 then all = all + each(ipairs(t))
  elseif which == 1 then all = all + each(pairs(named))
  elseif which == 2 then all = all + each(odd, t, -1)
  else all = all + each(next_index, t, round % 90) end
end
print(all)

-- Elements come and go while a loop is on its way, also in the part that is no array.
local function grow(limit)
  local list, seen = { 1 }, 0
  for i, v in ipairs(list) do
    seen = seen + v
    if i < limit then list[i + 1] = (v * 3 + 1) % 101 end
    if i % 50 == 0 then list[i + 2] = nil end
  end
  return seen, #list
end
local function shrink(n)
  local list, seen = {}, 0
  for i = 1, n do list[i] = i end
  for i, v in ipairs(list) do
    seen = seen + v
    list[n - i + 1] = nil
  end
  return seen
end
local function scattered(n)
  local list, seen = {}, 0
  for i = n, 1, -1 do list[i] = i end
  list[n / 2] = nil
  for i, v in ipairs(list) do seen = seen + v end
  list[n / 2] = 0
  for i, v in ipairs(list) do seen = seen + i + v end
  return seen
end
for n = 1, 200 do
  local a, b = grow(n * 3)
  local c, d = shrink(n), scattered(n * 2)
  if n % 40 == 0 then print(n, a, b, c, d) end
end

-- The variables of a loop are new ones in each iteration, and may be assigned to.
local made = {}
for i, v in ipairs({ "x", "y", "z" }) do
  made[i] = function(by) i = i + by v = v .. i return v end
end
print(made[1](10), made[1](10), made[2](5), made[3](1))
local n = 0
for i, v in ipairs(t) do
  i = i + 100
  v = i
  n = n + v
end
print(n)
for round = 1, 3 do
  local co = coroutine.wrap(function() for i, v in ipairs(t) do coroutine.yield(i * v) end end)
  local sum = 0
  for _ = 1, 100 do sum = sum + co() end
  print(sum)
end
print(pcall(next_index))
print(pcall(next_index, {}))
print(pcall(next_index, 1, 1))
print(pcall(next_index, {}, {}))
print(next_index({ 5, 6 }, "1"), next_index({ 5, 6 }, 2))
