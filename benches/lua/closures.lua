-- Closures made in loops: counters with variables of their own, variables that several share, and handlers in a table.
-- longer: 4100000
local n = tonumber(arg[1]) or 590000

local function counter(start)
  local count = start
  local function add(by)
    count = count + by
    return count
  end
  local function get() return count end
  local function reset() count = start end
  return add, get, reset
end

local function handlers(count)
  local list, total = {}, 0
  for i = 1, count do
    local weight = i % 3
    list[i] = function(value) total = total + value * weight + i end
  end
  return list, function() return total end
end

local sum = 0
for i = 1, n do
  local add, get, reset = counter(i)
  for j = 1, 4 do add(j) end
  sum = sum + get()
  reset()
  sum = (sum + get()) % 1000003
  if i % 10 == 0 then
    local list, total = handlers(10)
    for round = 1, 5 do
      for _, handler in ipairs(list) do handler(round) end
    end
    sum = (sum + total()) % 1000003
  end
end
print("closures " .. n .. " " .. sum)
assert(n ~= 590000 or sum == 520610)
