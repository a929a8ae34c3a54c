local function sum(...) local s = 0 for i = 1, select("#", ...) do s = s + (select(i, ...)) end return s end
local function pass(...) return ... end
local function pack(...) return { n = select("#", ...), ... } end
local total = 0
for i = 1, 5000 do
  total = total + sum(i, 1, 2) + sum() + select("#", pass(i, i)) + pack(i, nil, i).n + (pass(i, i))
end
print(total)
local function rotate(a, b, c) return b, c, a end
local a, b, c = 1, 2, 3
for i = 1, 10000 do a, b, c = rotate(a, b, c) end
print(a, b, c)
local function count(n, ...) if n == 0 then return select("#", ...) end return count(n - 1, n, ...) end
local s = 0
for i = 1, 200 do s = s + count(50) end
print(s)
local t = { 1, 2, 3, 4, 5 }
local m = 0
for i = 1, 20000 do m = m + math.max(unpack(t, 1, i % 5 + 1)) end
print(m)
