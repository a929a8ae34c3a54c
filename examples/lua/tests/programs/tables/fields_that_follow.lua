-- Tables that get their fields by the statements behind their constructors, or by methods that make them: they have room, and are as others.
local function show(of)
  local names = {}
  for name in pairs(of) do names[#names + 1] = tostring(name) end
  table.sort(names)
  for at, name in ipairs(names) do names[at] = name .. "=" .. tostring(of[name] or of[tonumber(name)]) end
  return "{" .. table.concat(names, " ") .. "}"
end

local function plain(a)
  local t = {}
  t.x = a
  t.y = 2
  t.x = a + 1
  t.z = nil
  return t
end
local function some(a)
  local t = { x = a, 10, 20 }
  t.y = a
  t.z = 3
  t[3] = 30
  return t
end
local function many()
  local t = { a = 1, b = 2 }
  t.c = 3 t.d = 4 t.e = 5 t.f = 6 t.g = 7 t.h = 8 t.i = 9 t.j = 10 t.k = 11
  t.l = 12 t.m = 13 t.n = 14 t.o = 15 t.p = 16 t.q = 17 t.r = 18 t.s = 19
  return t
end
local Class = { kind = "class" }
Class.__index = Class
local function object(a, more)
  local self = setmetatable({}, Class)
  self.a = a
  self.b, self.c = a + 1, a + 2
  if more then self.d = 4 end
  function self.f() return self.a end
  return self
end
local function with_fields(a)
  local self = setmetatable({ first = a }, Class)
  self.second = a
  self.first = a + 1
  return self
end
local function nested()
  local t = { inner = {}, list = { {}, {} } }
  t.x = { y = {} }
  t.x.y.z = 5
  t.inner.k = 1
  t.list[1].v = 2
  return t.x.y.z + t.inner.k + t.list[1].v
end
local function taken(a)
  local t = tostring({})
  local u = rawget({ x = a }, "x")
  local v = select(1, { 7 })
  v.x = u
  return type(t), u, v.x, v[1]
end
local function loops(n)
  local last
  for i = 1, n do
    local t = {}
    t.i = i
    if i % 2 == 0 then t.even = true else t.odd = true end
    last = t
    repeat
      local u = {}
      u.at = i
      t.u = u.at
    until u.at == i
  end
  return last
end
for round = 1, 30 do
  local o = object(round, round % 2 == 0)
  local texts = {
    show(plain(round)), show(some(round)), show(many()), o.f(), o.kind, o.a + o.b + o.c, tostring(o.d),
    show(with_fields(round)), nested(), show(loops(10)),
  }
  if round % 10 == 1 then print(table.concat(texts, "\n")) print(taken(round)) end
end

-- Objects of a class whose methods give them fields, of which some need more than others.
local Base = {}
Base.__index = Base
function Base.new(...)
  local self = setmetatable({}, Base)
  self:init(...)
  return self
end
function Base:init(n)
  for i = 1, n do self["field" .. i] = i end
  self.last = n
end
local sum = 0
for round = 1, 200 do
  local few, all, none = Base.new(round % 3), Base.new(round % 12), setmetatable({}, Base)
  none[1] = round
  sum = sum + few.last + all.last + none[1] + (all.field9 or 0)
  if round % 100 == 0 then print(show(few), show(all), show(none)) collectgarbage() end
end
print(sum)
