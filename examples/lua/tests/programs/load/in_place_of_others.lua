-- Functions that are loaded, run in hot loops, and are gone, so that others come in their place with other parameters.
local texts = {
  'local a, b = ... return (a or 0) + (b or 0) + %d',
  'return %d',
  'local t = { ... } return #t + %d',
  'return select("#", ...) + %d',
  'return (function(a, b, c) return (a or 1) + (c or 2) + %d end)(...)',
  'local n = %d for i = 1, 40 do n = n + i end return n, ...',
}
local function call(f, ...) return f(...) end
local function each(f, n)
  local sum = 0
  for i = 1, n do
    sum = sum + call(f) + call(f, i) + call(f, i, 2) + call(f, i, 2, 3)
  end
  return sum
end
for round = 1, 120 do
  local f = assert(loadstring(texts[round % #texts + 1]:format(round)))
  local sum = each(f, round % 7 * 9 + 1)
  f = nil
  if round % 3 == 0 then collectgarbage() end
  if round % 10 == 0 then print(round, sum) end
end

-- Closures of such functions, as methods and metamethods, in loops that go on running.
local class = {}
local meta = { __index = class }
local object = setmetatable({ n = 1 }, meta)
local total = 0
for i = 1, 3000 do
  if i % 100 == 1 then
    class.step = nil
    meta.__add, meta.__call = nil, nil
    collectgarbage()
    class.step = loadstring('local k = ' .. i .. ' return function(self, x) return self.n + k + (x or 0) end')()
    meta.__add = loadstring('return function(a, b) return ' .. i .. ' end')()
    meta.__call = loadstring('return function(self, ...) return select("#", ...) + ' .. i % 13 .. ' end')()
  end
  total = total + object:step(i) + object:step() + (object + 1) + (1 + object) + object(1, 2) + object()
end
print(total)

-- Generators of such functions.
local got = {}
for i = 1, 40 do
  local generator = coroutine.wrap(loadstring('for k = 1, ' .. i .. ' do coroutine.yield(k * ' .. i .. ') end'))
  local sum = 0
  for value in generator do
    sum = sum + value
    if value % 3 == 0 then collectgarbage('step', 100) end
  end
  got[#got + 1] = sum
end
print(table.concat(got, ' '))
