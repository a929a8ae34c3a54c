-- Stacks and queues in arrays, whose length is asked for again and again while elements go.
local function fill(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end

-- From the end, by each way there is.
local ways = {
  assign = function(t) local v = t[#t] t[#t] = nil return v end,
  remove = function(t) return table.remove(t) end,
  position = function(t) return (table.remove(t, #t)) end,
  counted = function(t) local n = #t local v = t[n] rawset(t, n, nil) return v end,
}
local names = {}
for name in pairs(ways) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local take, t, sum = ways[name], fill(300), 0
  for round = 1, 200 do
    for _ = 1, round % 7 do sum = sum + (take(t) or 1000) end
    for i = 1, round % 5 do t[#t + 1] = round * i end
    if round % 50 == 0 then io.write(name, " ", #t, " ", sum, "\n") end
  end
  while #t > 0 do take(t) end
  print(name, #t, next(t), take(t), sum)
  for i = 1, 10 do t[i] = -i end
  print(#t, t[10], t[11], table.concat(t, ","))
end

-- One side's elements become the other's.
local before, after = fill(1000), {}
for round = 1, 60 do
  local to = (round * 379) % 1000
  while #before > to do after[#after + 1] = table.remove(before) end
  while #before < to do before[#before + 1] = table.remove(after) end
  assert(#before + #after == 1000 and (before[to] or to) == to)
end
print(#before, #after, before[#before], after[#after])

-- A traversal goes on behind elements that went, and were forgotten.
local t = fill(20)
t.x, t[100] = "x", "hundred"
local seen = {}
for k in pairs(t) do
  t[k] = nil
  for i = 20, 1, -1 do
    if t[i] == nil and i > 15 then assert(#t <= 20) end
  end
  seen[#seen + 1] = tostring(k)
end
table.sort(seen)
print(#t, next(t), table.concat(seen, " "))
t = fill(10)
for i = 10, 1, -1 do t[i] = nil assert(#t == i - 1) end
print(next(t, 7), pcall(next, t, "none"))

-- A loop over a table that gets shorter and longer meanwhile.
local function shrinking(t)
  local n = 0
  for i, v in ipairs(t) do
    n = n + v * i
    if i % 3 == 0 then table.remove(t) end
    if i % 10 == 0 then table.insert(t, i) end
  end
  return n, #t
end
for _ = 1, 300 do shrinking(fill(50)) end
print(shrinking(fill(50)))
local function ends(t)
  local sum = 0
  while #t > 0 do
    sum = sum + t[#t]
    local last = table.remove(t)
    if last % 9 == 0 then t[#t + 1] = 1 end
    sum = sum + (t[#t] or 0) + #t
  end
  return sum
end
for _ = 1, 300 do ends(fill(40)) end
print(ends(fill(40)), ends({}), ends({9}))

-- Elements behind a gap stay, and are in the way.
t = {1, 2, nil, 4}
print(#t, table.remove(t), t[4], t[3])
t = {1, nil, 3, nil}
print(#t, t[3], #t, t[3])
table.insert(t, 2)
print(t[1], t[2], t[3])
t = fill(8)
t[7] = nil
print(#t, table.remove(t), t[8])
t = fill(200)
for i = 100, 200 do t[i] = nil end
print(#t, t[99], t[100])
t[100] = "again"
print(#t, t[100])
for i = 200, 150, -1 do t[i] = i end
for i = 101, 149 do t[i] = i end
print(#t, t[200], table.remove(t), #t)

-- The same in a table that has other keys.
local queue = {n = 0, fill = true}
for i = 1, 100 do queue[#queue + 1] = i queue.n = #queue end
while #queue > 5 do queue.n = queue.n - 1 table.remove(queue, 1) table.remove(queue) end
print(queue.n, #queue, queue[1], queue[#queue])
