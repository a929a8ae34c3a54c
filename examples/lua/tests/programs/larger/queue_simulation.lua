-- Customers arrive at desks; numbers come from an own generator, so that all runs are equal.
local state = 12345
local function random(n) state = (state * 1103515245 + 12345) % 2147483648 return math.floor(state / 65536) % n + 1 end
local Desk = {}
Desk.__index = Desk
function Desk.new(id) return setmetatable({ id = id, queue = {}, busy = 0, served = 0, waited = 0 }, Desk) end
function Desk:length() return #self.queue + (self.busy > 0 and 1 or 0) end
function Desk:step(time)
  if self.busy > 0 then self.busy = self.busy - 1 end
  if self.busy == 0 and #self.queue > 0 then
    local customer = table.remove(self.queue, 1)
    self.busy = customer.work
    self.served = self.served + 1
    self.waited = self.waited + time - customer.arrived
  end
end
local policies = {
  shortest = function(desks)
    local best = desks[1]
    for _, desk in ipairs(desks) do if desk:length() < best:length() then best = desk end end
    return best
  end,
  random = function(desks) return desks[random(#desks)] end,
  turns = (function() local n = 0 return function(desks) n = n % #desks + 1 return desks[n] end end)(),
}
local function simulate(policy, minutes)
  state = 12345
  local desks, arrived, longest = {}, 0, 0
  for i = 1, 3 do desks[i] = Desk.new(i) end
  for time = 1, minutes do
    if random(10) <= 6 then
      arrived = arrived + 1
      table.insert(policy(desks).queue, { arrived = time, work = random(8) })
    end
    for _, desk in ipairs(desks) do desk:step(time) longest = math.max(longest, #desk.queue) end
  end
  local served, waited = 0, 0
  for _, desk in ipairs(desks) do served = served + desk.served waited = waited + desk.waited end
  return arrived, served, waited / served, longest
end
for _, name in ipairs({ "shortest", "random", "turns" }) do
  print(name, ("%d arrived, %d served, %.3f waited, longest %d"):format(simulate(policies[name], 2000)))
end
