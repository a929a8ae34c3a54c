-- Functions of any number of arguments: select, packs, unpacks, nils among them, and tail calls that pass them on.
-- longer: 2200000
local n = tonumber(arg[1]) or 330000

local unpack = unpack or table.unpack

local function sum_of(...)
  local total = 0
  for i = 1, select("#", ...) do total = total + (select(i, ...) or 1) end
  return total
end

local function packed(...) return { n = select("#", ...), ... } end

local function reversed(first, ...)
  if select("#", ...) == 0 then return first end
  local list = packed(...)
  local out = {}
  for i = list.n, 1, -1 do out[#out + 1] = list[i] end
  out[#out + 1] = first
  return unpack(out)
end

local function dropped(count, first, ...)
  if count == 0 then return first, ... end
  return dropped(count - 1, ...)
end

local function greatest(best, second, ...)
  if not second then return best end
  return greatest(second > best and second or best, ...)
end

local function counted(f, ...) return select("#", ...), f(...) end

local sum = 0
for i = 1, n do
  sum = sum + sum_of(i, nil, i % 7, 3, nil)
  local a, b, c, d = reversed(i, 2, 3, i % 5)
  sum = sum + a * 2 + b + c - d + greatest(1, i % 9, 4, i % 11, 2)
  local count, last = counted(dropped, 2, a, b, c, d)
  sum = (sum + count * 10 + last + packed(dropped(1, a, nil, nil)).n) % 1000003
end
print("varargs " .. n .. " " .. sum)
assert(n ~= 330000 or sum == 579927)
