-- Two and three results, of functions that are inlined, of those that are called, and of those that give fewer or more.
local function two(a, b) return b, a end
local function three(a, b, c) return c, a, b end
local function none() end
local function one(a) return a end
local function some(n, ...)
  if n == 0 then return end
  if n == 1 then return 1 end
  if n == 2 then return 1, 2 end
  if n == 3 then return 1, 2, 3 end
  return 1, 2, 3, n
end

local function try(rounds)
  local x, y, z = 1, 2, 3
  local log = {}
  for i = 1, rounds do
    x, y = two(x, y)
    x, y, z = three(x, y, z)
    local a, b = none()
    local c, d, e = one(i)
    local f, g = some(i % 5)
    local h, j, k = some((i + 1) % 5)
    local l, m, n, o = some((i + 2) % 5)
    if i % 37 == 0 then
      log[#log + 1] = table.concat({x, y, z, tostring(a), tostring(b), c, tostring(d), tostring(e), tostring(f), tostring(g),
        tostring(h), tostring(j), tostring(k), tostring(l), tostring(m), tostring(n), tostring(o)}, ",")
    end
  end
  return table.concat(log, "\n"), #log, x
end
for _, rounds in ipairs({40, 400, 4000}) do
  local text, count, x = try(rounds)
  print(#text, count, x)
  if count < 12 then print(text) end
end

-- What a call gives is forgotten by the next one.
local function many(n) if n > 0 then return n, many(n - 1) end end
for i = 1, 300 do
  local a, b, c = many(i % 4)
  local d, e = one(a)
  local f, g, h = two(d, e)
  assert(a == (i % 4 > 0 and i % 4 or nil) and b == (i % 4 > 1 and i % 4 - 1 or nil) and c == (i % 4 > 2 and 1 or nil))
  assert(d == a and e == nil and f == nil and g == a and h == nil)
end

-- Results are computed from left to right, and all before any is given.
local order = {}
local function note(x) order[#order + 1] = x return x end
local function noted(a, b, c) return note(a) + 1, note(b), (note(c)) end
print(noted(1, 2, 3))
local function swapped(a, b) a, b = b, a return a, b end
print(swapped(1, 2))
local function with_cell(a) local f = function() a = a + 1 return a end return a, f(), a end
print(with_cell(1))
print(table.concat(order, " "))

-- In lists, tables and arguments all of them count, and in parentheses one does.
print(two(1, 2), two(3, 4))
print((two(1, 2)))
print(#{two(1, 2), two(1, 2)}, #{(two(1, 2))}, select("#", three(1, nil, nil)))

-- Results of functions that are protected, which fail now and then.
local function fails(i) if i % 10 == 0 then error("ten") elseif i % 10 == 1 then error({i}, 0) end return i, -i end
local good, bad, sum = 0, 0, 0
for i = 1, 20000 do
  local ok, a, b, c = pcall(fails, i)
  assert(c == nil)
  if ok then
    good, sum = good + 1, sum + a + 2 * b
  else
    bad = bad + 1
    assert(b == nil and (a == "few_results_in_loops.lua:74: ten" or type(a) == "table" or a:find("ten$")))
  end
  local fine, none_at_all = pcall(none)
  assert(fine and none_at_all == nil and select("#", pcall(none)) == 1 and select("#", pcall(some, i % 6)) <= 5)
end
print(good, bad, sum)

-- Iterators that give fewer values than there are variables, and more.
local function counter(n)
  local i = 0
  return function()
    i = i + 1
    if i > n then return nil, "not seen" end
    if i % 3 == 0 then return i end
    return i, i * i, -i, "surplus"
  end
end
local sums = {0, 0, 0, 0}
for round = 1, 50 do
  for a in counter(10) do sums[1] = sums[1] + a end
  for a, b in counter(10) do sums[2] = sums[2] + (b or 100) end
  for a, b, c in counter(10) do sums[3] = sums[3] + (c or 100) end
  for a, b, c, d in counter(10) do sums[4] = sums[4] + (d and #d or 100) end
end
print(table.concat(sums, " "))

-- A table that is called in place of an iterator, and a function of the library.
local callable = setmetatable({n = 0}, {__call = function(self, state, at) self.n = self.n + 1 if self.n <= state then return self.n, at end end})
for round = 1, 30 do
  callable.n = 0
  local text = {}
  for a, b in callable, 3, 9 do text[#text + 1] = a .. ":" .. b end
  if round == 30 then print(table.concat(text, " ")) end
end
for word, number in ("a1 b2 c3"):gmatch("(%a)(%d)") do io.write(word, "-", number, " ") end
print()

-- Coroutines that yield and return several values.
local co = coroutine.create(function(a, b) local c, d, e = coroutine.yield(a, b) return c, d, e end)
print(coroutine.resume(co, 1, 2))
print(coroutine.resume(co, 3, nil, 5))
print(coroutine.resume(co))
