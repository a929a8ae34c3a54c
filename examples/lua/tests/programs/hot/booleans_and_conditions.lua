local function score(a, b, c, d)
  local s = 0
  if a and b then s = s + 1 end
  if a or b then s = s + 2 end
  if not a and (b or not c) then s = s + 4 end
  if (a and b) or (c and d) then s = s + 8 end
  if a == b then s = s + 16 end
  if not (a ~= b and c) then s = s + 32 end
  local v = a and b or c
  if v == nil then s = s + 64 elseif v then s = s + 128 else s = s + 256 end
  return s
end
local values = { true, false, nil, 0, "", n = 5 }
local total, line = 0, {}
for round = 1, 20 do
  for i = 1, 5 do for j = 1, 5 do for k = 1, 5 do for l = 1, 5 do
    total = total + score(values[i], values[j], values[k], values[l])
  end end end end
end
print(total)
for i = 1, 5 do line[i] = score(values[i], values[6 - i], values[i], nil) end
print(table.concat(line, " "))
local flips, state = 0, false
for i = 1, 50000 do
  local before = state
  state = i % 3 == 0 or not state and i % 2 == 0
  if state ~= before then flips = flips + 1 end
end
print(flips, state)
local function pick(x) return x and x.y and x.y.z or "none" end
local found = 0
for i = 1, 20000 do if pick(i % 3 == 0 and { y = { z = i } } or i % 3 == 1 and { y = false } or nil) ~= "none" then found = found + 1 end end
print(found)
