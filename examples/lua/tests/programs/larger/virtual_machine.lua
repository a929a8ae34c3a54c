-- An assembler and a machine with a stack, which runs programs of its own.
local function assemble(source)
  local code, labels, fixes = {}, {}, {}
  for line in source:gmatch("[^\n]+") do
    line = line:gsub(";.*", "")
    local label = line:match("^%s*(%w+):")
    if label then labels[label] = #code + 1 end
    local op, operand = line:gsub("^%s*%w+:", ""):match("(%a+)%s*(%S*)")
    if op then
      code[#code + 1] = { op = op, value = tonumber(operand) or operand }
      if operand ~= "" and not tonumber(operand) and op:match("^j") or op == "call" then fixes[#code] = operand end
    end
  end
  for at, name in pairs(fixes) do code[at].value = labels[name] or error("no label " .. name, 0) end
  return code
end
local operations = {
  push = function(m, v) m:push(v) end,
  pop = function(m) m:pop() end,
  dup = function(m) m:push(m.stack[#m.stack]) end,
  swap = function(m) local a, b = m:pop(), m:pop() m:push(a) m:push(b) end,
  add = function(m) local b, a = m:pop(), m:pop() m:push(a + b) end,
  sub = function(m) local b, a = m:pop(), m:pop() m:push(a - b) end,
  mul = function(m) local b, a = m:pop(), m:pop() m:push(a * b) end,
  mod = function(m) local b, a = m:pop(), m:pop() m:push(a % b) end,
  less = function(m) local b, a = m:pop(), m:pop() m:push(a < b and 1 or 0) end,
  load = function(m, name) m:push(m.memory[name] or 0) end,
  store = function(m, name) m.memory[name] = m:pop() end,
  jump = function(m, at) m.at = at end,
  jz = function(m, at) if m:pop() == 0 then m.at = at end end,
  jnz = function(m, at) if m:pop() ~= 0 then m.at = at end end,
  call = function(m, at) m.calls[#m.calls + 1] = m.at m.at = at end,
  ret = function(m) m.at = table.remove(m.calls) end,
  print = function(m) m.out[#m.out + 1] = m:pop() end,
  halt = function(m) m.halted = true end,
}
local Machine = {}
Machine.__index = Machine
function Machine:push(v) self.stack[#self.stack + 1] = v end
function Machine:pop()
  if #self.stack == 0 then error("stack is empty at " .. self.at - 1, 0) end
  return table.remove(self.stack)
end
function Machine.run(code, limit)
  local m = setmetatable({ stack = {}, memory = {}, calls = {}, out = {}, at = 1 }, Machine)
  local steps = 0
  while not m.halted do
    local i = code[m.at] or error("outside the code at " .. m.at, 0)
    m.at = m.at + 1
    local f = operations[i.op] or error("no operation " .. i.op, 0)
    f(m, i.value)
    steps = steps + 1
    if steps > limit then error("too many steps", 0) end
  end
  return table.concat(m.out, " "), steps
end
print(Machine.run(assemble [[
        push 1
        store n
loop:   load n
        dup
        mul
        print         ; squares
        load n
        push 1
        add
        store n
        load n
        push 11
        less
        jnz loop
        halt
]], 1000))
print(Machine.run(assemble [[
        push 20
        call fact
        print
        halt
fact:   dup
        push 2
        less
        jnz one
        dup
        push 1
        sub
        call fact
        mul
        ret
one:    pop
        push 1
        ret
]], 1000))
print(Machine.run(assemble [[
        push 0
        store sum
        push 3000
        store i
again:  load sum
        load i
        add
        push 1000007
        mod
        store sum
        load i
        push 1
        sub
        dup
        store i
        jnz again
        load sum
        print
        halt
]], 1e6))
print(pcall(Machine.run, assemble "add", 10))
print(pcall(Machine.run, assemble "here: jump here", 10))
print(pcall(Machine.run, assemble "nonsense", 10))
print(pcall(assemble, "jump nowhere"))
print(pcall(Machine.run, assemble "push 1", 10))
