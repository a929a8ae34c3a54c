-- A line of coroutines: one makes orders, filters change and drop some, a scheduler serves several customers in turn.
-- longer: 5100000
local n = tonumber(arg[1]) or 750000

local yield = coroutine.yield

local function receive(source)
  local ok, value = coroutine.resume(source)
  if not ok then error(value) end
  return value
end

local function producer(count)
  return coroutine.create(function()
    local seed = 11
    for i = 1, count do
      seed = seed * 16807 % 2147483647
      yield({ id = i, amount = seed % 100, customer = seed % 7 + 1 })
    end
  end)
end

local function filter(source, keeps)
  return coroutine.create(function()
    while true do
      local order = receive(source)
      if not order then return nil end
      if keeps(order) then yield(order) end
    end
  end)
end

local function batches(source, size)
  return coroutine.create(function()
    local batch = {}
    while true do
      local order = receive(source)
      if not order then break end
      batch[#batch + 1] = order
      if #batch == size then
        yield(batch)
        batch = {}
      end
    end
    if #batch > 0 then yield(batch) end
  end)
end

local totals, tasks = {}, {}
for customer = 1, 7 do
  totals[customer] = 0
  tasks[customer] = coroutine.wrap(function(order)
    while true do
      totals[customer] = (totals[customer] * 3 + order.amount + order.id) % 1000003
      order = yield(customer)
    end
  end)
end
local orders = filter(producer(n), function(order) return order.amount >= 10 end)
local line = batches(filter(orders, function(order) return order.id % 11 ~= 0 end), 16)
local count, batch = 0, receive(line)
while batch do
  count = count + 1
  for _, order in ipairs(batch) do tasks[order.customer](order) end
  batch = receive(line)
end
local sum = count
for customer = 1, 7 do sum = (sum * 31 + totals[customer]) % 1000003 end
print("producer " .. n .. " " .. sum)
assert(n ~= 750000 or sum == 423510)
