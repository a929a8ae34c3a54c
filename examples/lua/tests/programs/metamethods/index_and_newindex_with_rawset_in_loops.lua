local writes, reads = 0, 0
local t = setmetatable({}, {
  __index = function(self, k) reads = reads + 1 return k * 2 end,
  __newindex = function(self, k, v) writes = writes + 1 if k % 2 == 0 then rawset(self, k, v) end end,
})
for i = 1, 1000 do t[i] = i end
for i = 1, 1000 do t[i] = i end
local sum = 0
for i = 1, 1000 do sum = sum + t[i] end
print(writes, reads, sum)
local cached = setmetatable({}, { __index = function(self, k) local v = k % 7 rawset(self, k, v) return v end })
sum = 0
for round = 1, 3 do for i = 1, 2000 do sum = sum + cached[i] end end
print(sum)
local chain = {}
for i = 1, 20 do chain = setmetatable({ ["k" .. i] = i }, { __index = chain }) end
sum = 0
for round = 1, 500 do for i = 1, 20 do sum = sum + chain["k" .. i] end end
print(sum, chain.k21)
local vectors = {}
local V = {}
V.__index = V
V.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, V) end
V.__mul = function(a, k) return setmetatable({ x = a.x * k, y = a.y * k }, V) end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end
V.__lt = function(a, b) return a.x < b.x end
V.__len = function() return 2 end
V.__call = function(self, k) return self[k] end
V.__concat = function(a, b) return "v" end
local v, equal, less = setmetatable({ x = 0, y = 0 }, V), 0, 0
for i = 1, 5000 do
  local w = setmetatable({ x = i % 10, y = 1 }, V)
  v = v + w * 2
  if v == w then equal = equal + 1 end
  if w < v then less = less + 1 end
  if w("x") ~= i % 10 or w .. w ~= "v" then print("wrong") end
end
print(v.x, v.y, equal, less)
