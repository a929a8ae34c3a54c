local Big = {}
Big.__index = Big
local BASE = 1e7
local function new(digits) return setmetatable(digits, Big) end
local function big(v)
  if type(v) == "table" then return v end
  local text, digits = type(v) == "number" and ("%.0f"):format(v) or v, {}
  for i = #text, 1, -7 do digits[#digits + 1] = tonumber(text:sub(math.max(1, i - 6), i)) end
  return new(digits)
end
local function trim(d) while #d > 1 and d[#d] == 0 do d[#d] = nil end return new(d) end
function Big.__add(a, b)
  a, b = big(a), big(b)
  local sum, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local d = (a[i] or 0) + (b[i] or 0) + carry
    carry = d >= BASE and 1 or 0
    sum[i] = d - carry * BASE
  end
  if carry > 0 then sum[#sum + 1] = carry end
  return new(sum)
end
function Big.__mul(a, b)
  a, b = big(a), big(b)
  local product = {}
  for i = 1, #a + #b do product[i] = 0 end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local d = product[i + j - 1] + a[i] * b[j] + carry
      carry = math.floor(d / BASE)
      product[i + j - 1] = d % BASE
    end
    product[i + #b] = product[i + #b] + carry
  end
  return trim(product)
end
function Big.__pow(a, n)
  local result = big(1)
  a = big(a)
  while n > 0 do
    if n % 2 == 1 then result = result * a end
    n = math.floor(n / 2)
    if n > 0 then a = a * a end
  end
  return result
end
function Big.__eq(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if a[i] ~= b[i] then return false end end
  return true
end
function Big.__lt(a, b)
  if #a ~= #b then return #a < #b end
  for i = #a, 1, -1 do if a[i] ~= b[i] then return a[i] < b[i] end end
  return false
end
function Big.__tostring(a)
  local parts = { ("%d"):format(a[#a]) }
  for i = #a - 1, 1, -1 do parts[#parts + 1] = ("%07d"):format(a[i]) end
  return table.concat(parts)
end
Big.__concat = function(a, b) return tostring(a) .. tostring(b) end
local f = big(1)
for i = 1, 50 do f = f * i end
print(f)
print(big(2) ^ 200)
local a, b = big(0), big(1)
for _ = 1, 300 do a, b = b, a + b end
print(a)
print(big("99999999999999999999") + 1, big(12345678901234) * big("98765432109876543210"))
print(big(5) < big(7), big("100000000") < big(7), big(3) * 4 == big(12), "n = " .. big(7) * 6)
local sum = 0
for digit in tostring(big(2) ^ 1000):gmatch("%d") do sum = sum + digit end
print(sum)
