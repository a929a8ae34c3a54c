-- Timers in a heap, tasks as coroutines, channels between them.
local heap = {}
local function push(item)
  local i = #heap + 1
  heap[i] = item
  while i > 1 do
    local p = math.floor(i / 2)
    if heap[p].time < heap[i].time or heap[p].time == heap[i].time and heap[p].id < heap[i].id then break end
    heap[p], heap[i] = heap[i], heap[p]
    i = p
  end
end
local function before(a, b) return a.time < b.time or a.time == b.time and a.id < b.id end
local function pop()
  local top, last = heap[1], table.remove(heap)
  if #heap > 0 then
    heap[1] = last
    local i = 1
    while true do
      local child = i * 2
      if child > #heap then break end
      if child < #heap and before(heap[child + 1], heap[child]) then child = child + 1 end
      if not before(heap[child], heap[i]) then break end
      heap[i], heap[child] = heap[child], heap[i]
      i = child
    end
  end
  return top
end
local now, ids, log = 0, 0, {}
local function after(delay, f) ids = ids + 1 push({ time = now + delay, id = ids, run = f }) end
local function resume(co, ...)
  local ok, e = coroutine.resume(co, ...)
  if not ok then log[#log + 1] = now .. ": failed: " .. e end
end
local function sleep(n) local co = coroutine.running() after(n, function() resume(co) end) coroutine.yield() end
local function spawn(f, ...) local co, args = coroutine.create(f), { ... } after(0, function() resume(co, unpack(args)) end) end
local function channel()
  local values, waiting = {}, {}
  return {
    send = function(v)
      if #waiting > 0 then local co = table.remove(waiting, 1) after(0, function() resume(co, v) end)
      else values[#values + 1] = v end
    end,
    receive = function()
      if #values > 0 then return table.remove(values, 1) end
      waiting[#waiting + 1] = coroutine.running()
      return coroutine.yield()
    end,
  }
end
local c = channel()
spawn(function(name) for i = 1, 4 do sleep(3) c.send(name .. i) end end, "p")
spawn(function(name) for i = 1, 3 do sleep(5) c.send(name .. i) end end, "q")
for consumer = 1, 2 do
  spawn(function()
    while true do
      local value = c.receive()
      log[#log + 1] = now .. ": consumer " .. consumer .. " got " .. value
      sleep(1)
    end
  end)
end
spawn(function() sleep(7) error("a task fails", 0) end)
local steps = 0
while #heap > 0 and steps < 1000 do
  local item = pop()
  now = item.time
  item.run()
  steps = steps + 1
end
print(table.concat(log, "\n"))
print(now, steps)
for i = 1, 200 do push({ time = (i * 7919) % 101, id = i }) end
local sorted, last = true, nil
while #heap > 0 do local item = pop() if last and before(item, last) then sorted = false end last = item end
print(sorted)
