local function read(o) return o.x + o.y end
local sum = 0
for i = 1, 20000 do sum = sum + read({ x = i, y = 1 }) end
print(sum)
print(read({ y = 1, x = 2 }), read({ a = 0, x = 3, y = 4 }), read(setmetatable({}, { __index = { x = 5, y = 6 } })))
print(read(setmetatable({ x = 1 }, { __index = function(_, k) return 10 end })))
print(pcall(read, { x = 1 }))
print(pcall(read, nil))
for i = 1, 20000 do
  local o
  if i % 3 == 0 then o = { x = 1, y = 2 } elseif i % 3 == 1 then o = { y = 1, x = 2, z = 3 } else o = { [1] = 0, x = 1, y = 2 } end
  sum = sum + read(o)
end
print(sum)
local function write(o, v) o.n = v o.m = (o.m or 0) + v return o end
local o = {}
for i = 1, 20000 do write(o, i) end
print(o.n, o.m)
print(write({ n = 1, m = 2, k = 3 }, 4).m, pcall(write, "x", 1))
local log = {}
write(setmetatable({}, { __newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end }), 5)
print(table.concat(log, " "))
local big = {}
for i = 1, 100 do big["f" .. i] = i end
big.x, big.y = 100, 200
print(read(big))
