-- Tables that compute what they miss: `__index` stores the results of functions, also in tables with weak keys or values.
-- longer: 9100
local n = tonumber(arg[1]) or 1300

local function memo(f)
  return setmetatable({}, { __index = function(self, key)
    local value = f(self, key)
    self[key] = value
    return value
  end })
end

local function ways()
  return memo(function(rows, amount)
    return memo(function(row, coin)
      if amount == 0 then return 1 end
      if coin == 0 or amount < 0 then return 0 end
      local COINS = { 1, 2, 5, 10, 20, 50 }
      local rest = amount - COINS[coin]
      return (row[coin - 1] + (rest >= 0 and rows[rest][coin] or 0)) % 1000003
    end)
  end)
end

local sum = 0
for round = 1, n do
  local steps = memo(function(self, x)
    if x <= 1 then return 0 end
    return 1 + self[x % 2 == 0 and x / 2 or 3 * x + 1]
  end)
  for x = 1, 100 do sum = sum + steps[x * round % 1000 + 1] end
  local rows = ways()
  for amount = 0, 60 do sum = (sum + rows[amount][6] * amount) % 1000003 end
  local squares = setmetatable({}, { __mode = "k" })
  local names = setmetatable({}, { __mode = "v" })
  local kept = {}
  for i = 1, 100 do
    local key = { i }
    squares[key], names["n" .. i] = i * i, key
    if i % 10 == 0 then kept[#kept + 1] = key end
  end
  for i, key in ipairs(kept) do sum = sum + squares[key] + names["n" .. i * 10][1] end
end
print("memoize " .. n .. " " .. string.format("%d", sum))
assert(n ~= 1300 or sum == 542584)
