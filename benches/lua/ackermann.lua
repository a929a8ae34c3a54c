-- The function of Ackermann: deep recursion, with tail calls; the functions are global.
-- longer: 290
local n = tonumber(arg[1]) or 49

function ackermann(m, i)
  if m == 0 then return i + 1 end
  if i == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, (ackermann(m, i - 1)))
end

local sum = 0
for _ = 1, n do sum = sum + ackermann(2, 300) + ackermann(3, 6) end
print("ackermann " .. n .. " " .. sum)
assert(n ~= 49 or sum == 54488)
