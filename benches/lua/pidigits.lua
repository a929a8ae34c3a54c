-- The digits of pi by a spigot over an array, and great powers and factorials by numbers of many digits.
-- longer: 4000
local n = tonumber(arg[1]) or 1600

local floor = math.floor
local BASE = 10000000

local function pi_digits(count)
  local length = floor(count * 10 / 3) + 2
  local rest, out, nines, held = {}, {}, 0, nil
  for i = 1, length do rest[i] = 2 end
  for _ = 1, count do
    local carry = 0
    for i = length, 2, -1 do
      local value = rest[i] * 10 + carry * i
      local divisor = 2 * i - 1
      rest[i] = value % divisor
      carry = (value - rest[i]) / divisor
    end
    local value = rest[1] * 10 + carry
    rest[1] = value % 10
    local digit = (value - rest[1]) / 10
    if digit == 9 then
      nines = nines + 1
    else
      local over = digit == 10 and 1 or 0
      if held then out[#out + 1] = held + over end
      for _ = 1, nines do out[#out + 1] = over == 1 and 0 or 9 end
      held, nines = over == 1 and 0 or digit, 0
    end
  end
  return out
end

local function multiply(a, b)
  local out = {}
  for i = 1, #a + #b do out[i] = 0 end
  for i = 1, #a do
    local carry, digit = 0, a[i]
    for j = 1, #b do
      local value = out[i + j - 1] + digit * b[j] + carry
      local low = value % BASE
      out[i + j - 1] = low
      carry = (value - low) / BASE
    end
    out[i + #b] = out[i + #b] + carry
  end
  while #out > 1 and out[#out] == 0 do out[#out] = nil end
  return out
end

local function text(a)
  local parts = { string.format("%d", a[#a]) }
  for i = #a - 1, 1, -1 do parts[#parts + 1] = string.format("%07d", a[i]) end
  return table.concat(parts)
end

local sum = 0
for i, digit in ipairs(pi_digits(n)) do sum = (sum * 10 + digit + i) % 1000003 end
local factorial = { 1 }
for i = 2, n do factorial = multiply(factorial, { i }) end
local power = { 3 }
for _ = 1, 9 do power = multiply(power, power) end
local product = multiply(factorial, power)
for digit in text(product):gmatch("%d") do sum = (sum * 31 + digit) % 1000003 end
sum = string.format("%d", sum)
print("pidigits " .. n .. " " .. sum)
assert(n ~= 1600 or sum == "648605")
