-- A small operating system: tasks with priorities, queues of packets, devices and handlers, and a scheduler that runs them.
-- longer: 130
local n = tonumber(arg[1]) or 25

local IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = 1, 2, 3, 4, 5, 6
local DEVICE_PACKET, WORK_PACKET = 1, 2

local function append(packet, queue)
  packet.link = nil
  if not queue then return packet end
  local last = queue
  while last.link do last = last.link end
  last.link = packet
  return queue
end

local function new_packet(link, id, kind)
  local packet = { link = link, id = id, kind = kind, datum = 0, data = {} }
  for i = 1, 4 do packet.data[i] = 0 end
  return packet
end

local Scheduler = {}
Scheduler.__index = Scheduler

local Task = {}
Task.__index = Task

function Task:is_ready()
  return not self.held and (self.pending or not self.waiting)
end

function Scheduler:add(id, priority, queue, run, is_waiting)
  local task = setmetatable({
    id = id, priority = priority, queue = queue, run = run, scheduler = self, link = self.list,
    pending = queue ~= nil, waiting = is_waiting, held = false,
  }, Task)
  self.list = task
  self.table[id] = task
  return task
end

function Scheduler:hold()
  self.holds = self.holds + 1
  self.current.held = true
  return self.current.link
end

function Scheduler:release(id)
  local task = self.table[id]
  task.held = false
  if task.priority > self.current.priority then return task end
  return self.current
end

function Scheduler:wait()
  self.current.waiting = true
  return self.current
end

function Scheduler:send(packet)
  local task = self.table[packet.id]
  self.sent = self.sent + 1
  packet.link = nil
  packet.id = self.current.id
  if task.queue then
    append(packet, task.queue)
  else
    task.queue = packet
    task.pending = true
    if task.priority > self.current.priority then return task end
  end
  return self.current
end

function Scheduler:schedule()
  local task = self.list
  while task do
    if task:is_ready() then
      self.current = task
      local packet = nil
      if task.waiting and task.pending then
        packet = task.queue
        task.queue = packet.link
        task.waiting = false
        task.pending = task.queue ~= nil
      end
      task = task:run(packet)
    else
      task = task.link
    end
  end
end

local function idle(count)
  local control = 1
  return function(task)
    count = count - 1
    if count == 0 then return task.scheduler:hold() end
    if control % 2 == 0 then
      control = control / 2
      return task.scheduler:release(DEVICE_A)
    end
    -- The low sixteen bits of the shifted number, some of them reversed: 0xD008.
    control = (control - 1) / 2
    local mask, bit, number, flipped = 53256, 1, control, 0
    for _ = 1, 16 do
      if (number % 2 ~= 0) ~= (mask % 2 ~= 0) then flipped = flipped + bit end
      number, mask, bit = (number - number % 2) / 2, (mask - mask % 2) / 2, bit * 2
    end
    control = flipped
    return task.scheduler:release(DEVICE_B)
  end
end

local function worker()
  local destination, count = HANDLER_A, 0
  return function(task, packet)
    if not packet then return task.scheduler:wait() end
    destination = destination == HANDLER_A and HANDLER_B or HANDLER_A
    packet.id = destination
    packet.datum = 1
    for i = 1, 4 do
      count = count % 26 + 1
      packet.data[i] = 64 + count
    end
    return task.scheduler:send(packet)
  end
end

local function handler()
  local works, devices = nil, nil
  return function(task, packet)
    if packet then
      if packet.kind == WORK_PACKET then works = append(packet, works) else devices = append(packet, devices) end
    end
    if works then
      local work = works
      if work.datum > 4 then
        works = work.link
        return task.scheduler:send(work)
      elseif devices then
        local device = devices
        devices = device.link
        device.datum = work.data[work.datum]
        work.datum = work.datum + 1
        return task.scheduler:send(device)
      end
    end
    return task.scheduler:wait()
  end
end

local function device()
  local held = nil
  return function(task, packet)
    if packet then
      held = packet
      return task.scheduler:hold()
    end
    if not held then return task.scheduler:wait() end
    local ready = held
    held = nil
    return task.scheduler:send(ready)
  end
end

local function queue(count, id, kind)
  local packet = nil
  for _ = 1, count do packet = new_packet(packet, id, kind) end
  return packet
end

local sum = 0
for _ = 1, n do
  local scheduler = setmetatable({ table = {}, list = nil, current = nil, sent = 0, holds = 0 }, Scheduler)
  scheduler:add(IDLE, 0, nil, idle(10000), false)
  scheduler:add(WORKER, 1000, queue(2, WORKER, WORK_PACKET), worker(), true)
  scheduler:add(HANDLER_A, 2000, queue(3, DEVICE_A, DEVICE_PACKET), handler(), true)
  scheduler:add(HANDLER_B, 3000, queue(3, DEVICE_B, DEVICE_PACKET), handler(), true)
  scheduler:add(DEVICE_A, 4000, nil, device(), true)
  scheduler:add(DEVICE_B, 5000, nil, device(), true)
  scheduler:schedule()
  sum = sum + scheduler.sent * 7 + scheduler.holds
end
print("richards " .. n .. " " .. sum)
assert(n ~= 25 or sum == 4300475)
