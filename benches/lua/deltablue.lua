-- A solver of one-way constraints with strengths, which plans how values flow when one changes: chains of equal variables, and
-- projections by scale and offset.
-- longer: 330
local n = tonumber(arg[1]) or 120

local REQUIRED, STRONG, NORMAL, WEAK, WEAKEST = 1, 3, 5, 6, 7

local function class(base)
  local it = {}
  it.__index = it
  return base and setmetatable(it, base) or it
end

local Variable = class()

function Variable.new(value)
  return setmetatable({
    value = value, constraints = {}, determined_by = nil, mark = 0, strength = WEAKEST, stays = true,
  }, Variable)
end

function Variable:add(constraint)
  self.constraints[#self.constraints + 1] = constraint
end

function Variable:remove(constraint)
  for i, it in ipairs(self.constraints) do
    if it == constraint then
      table.remove(self.constraints, i)
      break
    end
  end
  if self.determined_by == constraint then self.determined_by = nil end
end

local Planner = class()
local planner = nil

local Constraint = class()

function Constraint:add()
  self:add_to_graph()
  planner:incremental_add(self)
end

function Constraint:destroy()
  if self:is_satisfied() then planner:incremental_remove(self) else self:remove_from_graph() end
end

function Constraint:satisfy(mark)
  self:choose_method(mark)
  if not self:is_satisfied() then
    if self.strength == REQUIRED then error("a required constraint cannot hold") end
    return nil
  end
  self:mark_inputs(mark)
  local out = self:output()
  local overridden = out.determined_by
  if overridden then overridden:mark_unsatisfied() end
  out.determined_by = self
  if not planner:add_propagate(self, mark) then error("a cycle") end
  out.mark = mark
  return overridden
end

function Constraint:is_input() return false end

-- A constraint of one variable.
local Unary = class(Constraint)

function Unary:add_to_graph()
  self.out:add(self)
  self.satisfied = false
end

function Unary:choose_method(mark)
  self.satisfied = self.out.mark ~= mark and self.strength < self.out.strength
end

function Unary:is_satisfied() return self.satisfied end
function Unary:mark_inputs() end
function Unary:output() return self.out end
function Unary:mark_unsatisfied() self.satisfied = false end
function Unary:inputs_known() return true end

function Unary:recalculate()
  self.out.strength = self.strength
  self.out.stays = not self:is_input()
  if self.out.stays then self:execute() end
end

function Unary:remove_from_graph()
  self.out:remove(self)
  self.satisfied = false
end

local Stay = class(Unary)
function Stay:execute() end

local Edit = class(Unary)
function Edit:execute() end
function Edit:is_input() return true end

local function unary(kind, variable, strength)
  local it = setmetatable({ out = variable, strength = strength, satisfied = false }, kind)
  it:add()
  return it
end

-- A constraint of two variables, which flows forward, backward or not at all.
local Binary = class(Constraint)

function Binary:choose_method(mark)
  local a, b = self.a, self.b
  if a.mark == mark then
    self.direction = b.mark ~= mark and self.strength < b.strength and 1 or 0
  elseif b.mark == mark then
    self.direction = a.mark ~= mark and self.strength < a.strength and -1 or 0
  elseif a.strength > b.strength then
    self.direction = self.strength < a.strength and -1 or 0
  else
    self.direction = self.strength < b.strength and 1 or 0
  end
end

function Binary:add_to_graph()
  self.a:add(self)
  self.b:add(self)
  self.direction = 0
end

function Binary:is_satisfied() return self.direction ~= 0 end
function Binary:mark_inputs(mark) self:input().mark = mark end
function Binary:input() return self.direction == 1 and self.a or self.b end
function Binary:output() return self.direction == 1 and self.b or self.a end
function Binary:mark_unsatisfied() self.direction = 0 end

function Binary:inputs_known(mark)
  local it = self:input()
  return it.mark == mark or it.stays or not it.determined_by
end

function Binary:recalculate()
  local from, to = self:input(), self:output()
  to.strength = math.max(self.strength, from.strength)
  to.stays = from.stays
  if to.stays then self:execute() end
end

function Binary:remove_from_graph()
  self.a:remove(self)
  self.b:remove(self)
  self.direction = 0
end

local Equal = class(Binary)
function Equal:execute() self:output().value = self:input().value end

local function equal(a, b)
  setmetatable({ a = a, b = b, strength = REQUIRED, direction = 0 }, Equal):add()
end

local Scale = class(Binary)

function Scale:add_to_graph()
  Binary.add_to_graph(self)
  self.scale:add(self)
  self.offset:add(self)
end

function Scale:remove_from_graph()
  Binary.remove_from_graph(self)
  self.scale:remove(self)
  self.offset:remove(self)
end

function Scale:mark_inputs(mark)
  Binary.mark_inputs(self, mark)
  self.scale.mark, self.offset.mark = mark, mark
end

function Scale:execute()
  if self.direction == 1 then
    self.b.value = self.a.value * self.scale.value + self.offset.value
  else
    self.a.value = (self.b.value - self.offset.value) / self.scale.value
  end
end

function Scale:recalculate()
  local from, to = self:input(), self:output()
  to.strength = math.max(self.strength, from.strength)
  to.stays = from.stays and self.scale.stays and self.offset.stays
  if to.stays then self:execute() end
end

function Planner.new() return setmetatable({ mark = 0 }, Planner) end

function Planner:new_mark()
  self.mark = self.mark + 1
  return self.mark
end

function Planner:incremental_add(constraint)
  local mark = self:new_mark()
  local overridden = constraint:satisfy(mark)
  while overridden do overridden = overridden:satisfy(mark) end
end

function Planner:incremental_remove(constraint)
  local out = constraint:output()
  constraint:mark_unsatisfied()
  constraint:remove_from_graph()
  local unsatisfied = self:remove_propagate(out)
  for strength = REQUIRED, WEAKEST do
    for _, it in ipairs(unsatisfied) do
      if it.strength == strength then self:incremental_add(it) end
    end
  end
end

-- The constraints that use a variable's value go onto the list.
local function add_users(variable, list)
  local determining = variable.determined_by
  for _, it in ipairs(variable.constraints) do
    if it ~= determining and it:is_satisfied() then list[#list + 1] = it end
  end
end

function Planner:add_propagate(constraint, mark)
  local list = { constraint }
  while #list > 0 do
    local it = table.remove(list)
    if it:output().mark == mark then
      self:incremental_remove(constraint)
      return false
    end
    it:recalculate()
    add_users(it:output(), list)
  end
  return true
end

function Planner:remove_propagate(out)
  out.determined_by, out.strength, out.stays = nil, WEAKEST, true
  local unsatisfied, list = {}, { out }
  while #list > 0 do
    local variable = table.remove(list)
    for _, it in ipairs(variable.constraints) do
      if not it:is_satisfied() then unsatisfied[#unsatisfied + 1] = it end
    end
    local users = {}
    add_users(variable, users)
    for _, it in ipairs(users) do
      it:recalculate()
      list[#list + 1] = it:output()
    end
  end
  return unsatisfied
end

function Planner:plan(sources)
  local mark, plan, list = self:new_mark(), {}, {}
  for _, it in ipairs(sources) do
    if it:is_input() and it:is_satisfied() then list[#list + 1] = it end
  end
  while #list > 0 do
    local it = table.remove(list)
    if it:output().mark ~= mark and it:inputs_known(mark) then
      plan[#plan + 1] = it
      it:output().mark = mark
      add_users(it:output(), list)
    end
  end
  return plan
end

local function run(plan)
  for _, it in ipairs(plan) do it:execute() end
end

local function change(variable, value)
  local edit = unary(Edit, variable, 2)
  local plan = planner:plan({ edit })
  for _ = 1, 10 do
    variable.value = value
    run(plan)
  end
  edit:destroy()
end

local function chain(count)
  planner = Planner.new()
  local variables = {}
  for i = 1, count do
    variables[i] = Variable.new(0)
    if i > 1 then equal(variables[i - 1], variables[i]) end
  end
  unary(Stay, variables[count], STRONG)
  local edit = unary(Edit, variables[1], 2)
  local plan, sum = planner:plan({ edit }), 0
  for i = 1, 50 do
    variables[1].value = i
    run(plan)
    if variables[count].value ~= i then error("the chain is broken") end
    sum = sum + variables[count].value
  end
  edit:destroy()
  return sum
end

local function projection(count)
  planner = Planner.new()
  local scale, offset, from, to, targets = Variable.new(10), Variable.new(1000), nil, nil, {}
  for i = 1, count do
    from, to = Variable.new(i), Variable.new(i)
    targets[i] = to
    unary(Stay, from, NORMAL)
    setmetatable({ a = from, b = to, scale = scale, offset = offset, strength = REQUIRED, direction = 0 }, Scale):add()
  end
  change(from, 17)
  if to.value ~= 1170 then error("forward") end
  change(to, 1050)
  if from.value ~= 5 then error("backward") end
  change(scale, 5)
  for i = 1, count - 1 do
    if targets[i].value ~= i * 5 + 1000 then error("scale") end
  end
  change(offset, 2000)
  local sum = 0
  for i = 1, count - 1 do
    if targets[i].value ~= i * 5 + 2000 then error("offset") end
    sum = sum + targets[i].value
  end
  return sum
end

local sum = 0
for i = 1, n do sum = (sum * 3 + chain(200 + i) + projection(100 + i)) % 1000003 end
print("deltablue " .. n .. " " .. sum)
assert(n ~= 120 or sum == 12024)
