-- Calls in the place of the function that makes them, with more arguments than have opcodes of their own: of one closure, of several, of
-- vararg functions, of what stands for a function, and of functions of the library.
local function last(a, b, c, d, e) return e, select("#", a, b, c, d, e) end
local function first(a) return a end
local function count(...) return select("#", ...), ... end
local function walk(n, a, b, c, ...)
  if n == 0 then return a, b, c, select("#", ...), ... end
  return walk(n - 1, b, c, a, ...)
end
local called = setmetatable({}, { __call = function(self, a, b, c, d, ...) return type(self), d, select("#", ...), ... end })
local other = setmetatable({}, { __call = function(_, ...) return "other", select("#", ...) end })
local function pass(f, i) return f(i, i + 1, i + 2, i + 3, i + 4) end
local function seven(f, i) return f(i, nil, i + 2, nil, i + 4, i + 5, nil) end

for round = 1, 60 do
  local shows = round == 1 or round == 60
  for _, f in ipairs { last, count, first, called, math.max, last, other, called } do
    local results = { pass(f, round) }
    if shows then print(unpack(results)) end
  end
end
for round = 1, 60 do
  local a, b, c, n, x, y = walk(round, 1, 2, 3, round, 5)
  local d, e, f, m = walk(3, "a", "b", "c")
  if round % 20 == 0 then print(a, b, c, n, x, y, d, e, f, m) end
end
for round = 1, 40 do
  local results = { seven(round % 2 == 0 and count or called, round) }
  if round > 37 then print(#results >= 0, results[1], results[2], results[3]) end
end
-- The site sees one function, then a form of another, and then what cannot be called.
local function any(f, ...) return f(1, 2, 3, 4, ...) end
for i = 1, 50 do any(count, i) end
print(any(count), any(count, nil, nil), any(last, 9), any(called, 7, 8))
print(pcall(any, nil))
print(pcall(pass, {}, 1))
print(select(2, pcall(any, 5, 6)))
