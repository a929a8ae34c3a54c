-- The function of Takeuchi: calls of three arguments, three of them nested in one.
-- longer: 1400
local n = tonumber(arg[1]) or 220

local function tak(x, y, z)
  if y >= x then return z end
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
end

local sum = 0
for i = 1, n do sum = (sum * 3 + tak(18 + i % 2, 12, 6)) % 1000003 end
print("tak " .. n .. " " .. sum)
assert(n ~= 220 or sum == 138458)
