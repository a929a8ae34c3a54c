-- What one does with tables: stacks, queues, sets, matrices with keys of strings, insertion and removal in the middle, joining.
-- longer: 970
local n = tonumber(arg[1]) or 130

local insert, remove, concat = table.insert, table.remove, table.concat

local function stacks(count)
  local stack, sum = {}, 0
  for i = 1, count do
    insert(stack, i)
    if i % 3 == 0 then sum = sum + remove(stack) end
  end
  while #stack > 0 do sum = sum + remove(stack) % 7 end
  return sum
end

local function middles(count)
  local list = {}
  for i = 1, count do insert(list, #list % 5 + 1, i) end
  for _ = 1, count - 10 do remove(list, 3) end
  return tonumber(concat(list, "", 1, 4)) % 1000003
end

local function sets(count)
  local a, b, both = {}, {}, 0
  for i = 1, count do
    a[i * 7 % 1009] = true
    b["k" .. i * 11 % 1009] = true
  end
  for i = 0, 1008 do
    if a[i] and b["k" .. i] then both = both + 1 end
  end
  return both
end

local function queues(count)
  local queue, first, last, sum = {}, 1, 0, 0
  for i = 1, count do
    last = last + 1
    queue[last] = i
    if i % 2 == 0 then
      sum = sum + queue[first]
      queue[first] = nil
      first = first + 1
    end
  end
  return sum % 1000003
end

local function sparse(count)
  local cells, sum = {}, 0
  for i = 1, count do cells[i % 37 .. "," .. i % 41] = i end
  for x = 0, 36 do
    for y = 0, 40 do sum = sum + (cells[x .. "," .. y] or 0) end
  end
  return sum
end

local function copies(count)
  local from, sum = { x = 1, y = 2, z = { 3, 4 }, 5, 6, 7 }, 0
  for _ = 1, count do
    local to = {}
    for key, value in pairs(from) do to[key] = value end
    sum = sum + to.x + to.y + #to.z + #to
    if next(to) == nil then sum = sum + 1 end
  end
  return sum
end

local sum = 0
for _ = 1, n do
  sum = (sum * 3 + stacks(2000) + middles(500) + sets(800) + queues(2000) + sparse(1000) + copies(300)) % 1000003
end
print("tables " .. n .. " " .. sum)
assert(n ~= 130 or sum == 232554)
