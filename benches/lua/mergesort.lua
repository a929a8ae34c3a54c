-- Sorts linked lists by merging, reverses them, and removes every third element.
-- longer: 330000
local n = tonumber(arg[1]) or 60000

local function make(count, seed)
  local list = nil
  for _ = 1, count do
    seed = seed * 16807 % 2147483647
    list = { value = seed % 100000, next = list }
  end
  return list
end

local function merge(a, b)
  local head = { next = nil }
  local last = head
  while a and b do
    if a.value <= b.value then
      last.next, last, a = a, a, a.next
    else
      last.next, last, b = b, b, b.next
    end
  end
  last.next = a or b
  return head.next
end

local function sort(list)
  if not list or not list.next then return list end
  local slow, fast = list, list.next
  while fast and fast.next do slow, fast = slow.next, fast.next.next end
  local second = slow.next
  slow.next = nil
  return merge(sort(list), sort(second))
end

local function reverse(list)
  local reversed = nil
  while list do
    local rest = list.next
    list.next, reversed, list = reversed, list, rest
  end
  return reversed
end

local function thin(list)
  local at, it = 1, list
  while it and it.next do
    at = at + 1
    if at % 3 == 0 then it.next = it.next.next else it = it.next end
  end
  return list
end

local sum = 0
for round = 1, 3 do
  local list = thin(reverse(sort(make(n, round))))
  local before, count = 100000, 0
  while list do
    if list.value > before then error("not in order") end
    before, count = list.value, count + 1
    sum = (sum * 3 + before) % 1000003
    list = list.next
  end
  sum = sum + count
end
print("mergesort " .. n .. " " .. sum)
assert(n ~= 60000 or sum == 970540)
