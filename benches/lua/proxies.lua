-- Proxies: tables whose reads and writes go through functions, which count, check, translate or forbid them.
-- longer: 12000000
local n = tonumber(arg[1]) or 1500000

local function counting(target)
  local reads, writes = 0, 0
  local proxy = setmetatable({}, {
    __index = function(_, key)
      reads = reads + 1
      return target[key]
    end,
    __newindex = function(_, key, value)
      writes = writes + 1
      target[key] = value
    end,
  })
  return proxy, function() return reads, writes end
end

local function read_only(target)
  return setmetatable({}, {
    __index = target,
    __newindex = function(_, key) error("the field " .. key .. " is fixed", 0) end,
  })
end

local function with_default(default)
  return setmetatable({}, { __index = function() return default end })
end

local function observed(listener)
  local values = {}
  return setmetatable({}, {
    __index = values,
    __newindex = function(_, key, value)
      local old = rawget(values, key)
      rawset(values, key, value)
      listener(key, old, value)
    end,
  })
end

local account, uses = counting({ balance = 0, name = "a" })
local fixed = read_only({ rate = 3, base = 10 })
local counts, changes = with_default(0), 0
local settings = observed(function(_, old, value)
  if old ~= value then changes = changes + 1 end
end)
local failed, sum = 0, 0
for i = 1, n do
  account.balance = account.balance + fixed.rate
  counts[i % 100] = counts[i % 100] + 1
  settings.level = i % 3 - i % 2
  sum = sum + settings.level + fixed.base
  if i % 20 == 0 then
    local ok, message = pcall(function() fixed.rate = i end)
    if not ok and message == "the field rate is fixed" then failed = failed + 1 end
  end
end
local reads, writes = uses()
sum = sum + account.balance + reads + writes + changes * 7 + failed * 11 + counts[5]
print("proxies " .. n .. " " .. sum)
assert(n ~= 1500000 or sum == 31090007)
