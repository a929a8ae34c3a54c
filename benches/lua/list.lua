-- Recursion over linked lists: the function of Takeuchi with the lengths of lists as numbers.
-- longer: 6000
local n = tonumber(arg[1]) or 760

local function make(length)
  if length == 0 then return nil end
  return { value = length, next = make(length - 1) }
end

local function length(list)
  if list.next then return 1 + length(list.next) end
  return 1
end

local function is_shorter(x, y)
  while y do
    if not x then return true end
    x, y = x.next, y.next
  end
  return false
end

local function tail(x, y, z)
  if not is_shorter(y, x) then return z end
  return tail(tail(x.next, y, z), tail(y.next, z, x), tail(z.next, x, y))
end

local sum = 0
for _ = 1, n do sum = sum + length(tail(make(15), make(10), make(6))) end
print("list " .. n .. " " .. sum)
assert(n ~= 760 or sum == 7600)
