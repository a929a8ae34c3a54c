-- Elements of tables that have metatables: what is there is set, what is not there may be somebody else's.
local function put(t, k, v) t[k] = v end
local function get(t, k) return t[k] end

local meta = { __index = function(_, k) return "no " .. tostring(k) end }
local t = setmetatable({}, meta)
for i = 1, 3000 do put(t, i, i * 2) end
local sum = 0
for i = 1, 3001 do
  local v = get(t, i)
  sum = sum + (type(v) == "number" and v or 1)
end
print(#t, sum, get(t, 3002), get(t, 0), get(t, -1))

-- Holes are filled and made.
for i = 1, 3000, 7 do put(t, i, nil) end
for i = 1, 3000, 14 do put(t, i, "back") end
sum = 0
for i = 1, 3000 do
  local v = rawget(t, i)
  sum = sum + (v == nil and 1 or v == "back" and 1000 or 0)
end
print(sum, get(t, 8), get(t, 15))

-- A setter that comes later is asked for what is not there, and only for that.
local log = {}
meta.__newindex = function(of, k, v)
  log[#log + 1] = k
  if k % 2 == 0 then rawset(of, k, v) end
end
for i = 2990, 3010 do put(t, i, -i) end
print(table.concat(log, " "), rawget(t, 3002), rawget(t, 3003), rawget(t, 2995))

-- It goes again, by several ways.
meta.__newindex = nil
put(t, 5001, "a")
rawset(meta, "__newindex", function(_, k) log[#log + 1] = "raw" .. k end)
put(t, 5002, "b")
meta["__new" .. "index"] = nil
put(t, 5003, "c")
local other = {}
meta.__newindex = other
put(t, 5004, "d")
setmetatable(t, nil)
put(t, 5005, "e")
setmetatable(t, meta)
put(t, 5006, "f")
print(log[#log], rawget(t, 5001), rawget(t, 5002), rawget(t, 5003), rawget(t, 5004), rawget(t, 5005), rawget(t, 5006))
print(other[5004], other[5005], other[5006])

-- One place, tables of all sorts.
local plain, silent, loud, strict = {}, setmetatable({}, {}), setmetatable({}, {}), nil
getmetatable(loud).__newindex = function(of, k, v) rawset(of, k, v and v + 0.5) end
strict = setmetatable({}, { __newindex = function(_, k) error("no " .. tostring(k), 0) end })
local tables = { plain, silent, loud }
for i = 1, 6000 do
  local of = tables[i % 3 + 1]
  put(of, i % 50 + 1, i)
  if i % 97 == 0 then put(of, i % 50 + 1, nil) end
end
for _, of in ipairs(tables) do
  local all = 0
  for i = 1, 60 do all = all + (rawget(of, i) or 0) * i end
  print(all)
end
for i = 1, 300 do
  local ok, message = pcall(put, strict, i, i)
  if i % 100 == 0 then print(ok, message, #strict) end
end

-- A class with its elements in itself.
local Stack = {}
Stack.__index = Stack
function Stack:push(v) self.n = self.n + 1 self[self.n] = v end
function Stack:pop()
  local v = self[self.n]
  self[self.n] = nil
  self.n = self.n - 1
  return v
end
local stack, total = setmetatable({ n = 0 }, Stack), 0
for round = 1, 200 do
  for i = 1, round % 23 + 1 do stack:push(i * round) end
  for i = 1, round % 19 + 1 do total = total + (stack.n > 0 and stack:pop() or 0) end
end
print(stack.n, total)
Stack.__newindex = function(of, k, v) rawset(of, k, "set " .. tostring(v)) end
stack:push(1)
stack:push(2)
print(stack:pop(), stack:pop(), type(stack:pop()))

-- Keys that are no elements.
for _, k in ipairs({ 0.5, -1, 0, 2 ^ 31, 1e300, true, "name" }) do
  put(silent, k, tostring(k))
  io.write(tostring(rawget(silent, k)), " ")
end
print(pcall(put, silent, nil, 1), pcall(put, silent, 0 / 0, 1))
