local F = {}
function F.map(t, f) local r = {} for i = 1, #t do r[i] = f(t[i], i) end return r end
function F.filter(t, p) local r = {} for _, v in ipairs(t) do if p(v) then r[#r + 1] = v end end return r end
function F.reduce(t, f, a) local from = 1 if a == nil then a, from = t[1], 2 end for i = from, #t do a = f(a, t[i]) end return a end
function F.range(from, to, step) local r = {} for i = from, to, step or 1 do r[#r + 1] = i end return r end
function F.zip(...)
  local lists, r, n = { ... }, {}, math.huge
  for _, list in ipairs(lists) do n = math.min(n, #list) end
  for i = 1, n do r[i] = F.map(lists, function(list) return list[i] end) end
  return r
end
function F.group(t, f) local r = {} for _, v in ipairs(t) do local k = f(v) r[k] = r[k] or {} table.insert(r[k], v) end return r end
function F.compose(...) return F.reduce({ ... }, function(f, g) return function(...) return f(g(...)) end end) end
function F.partial(f, ...)
  local bound, n = { ... }, select("#", ...)
  return function(...)
    local all = { unpack(bound, 1, n) }
    for i = 1, select("#", ...) do all[n + i] = select(i, ...) end
    return f(unpack(all, 1, n + select("#", ...)))
  end
end
function F.flatten(t, out)
  out = out or {}
  for _, v in ipairs(t) do if type(v) == "table" then F.flatten(v, out) else out[#out + 1] = v end end
  return out
end
local List = setmetatable({}, { __call = function(self, t) return setmetatable({ items = t }, self) end })
List.__index = function(_, name)
  local f = F[name]
  if not f then return nil end
  return function(self, ...) local r = f(self.items, ...) return type(r) == "table" and List(r) or r end
end
List.__tostring = function(self) return "[" .. table.concat(F.map(self.items, tostring), " ") .. "]" end
local square, even = function(x) return x * x end, function(x) return x % 2 == 0 end
local add = function(a, b) return a + b end
print(List(F.range(1, 10)):filter(even):map(square))
print(List(F.range(1, 100)):map(square):reduce(add), F.reduce({ "a", "b", "c" }, function(a, b) return a .. b end))
print(F.reduce({}, add, 0), F.reduce({}, add), F.reduce({ 7 }, add))
for _, row in ipairs(F.zip({ 1, 2, 3 }, { "a", "b" }, { true, false, true })) do io.write(tostring(List(row)), " ") end
print()
local groups = F.group({ "apple", "bob", "cat", "alice", "bill" }, function(s) return s:sub(1, 1) end)
print(List(groups.a), List(groups.b), List(groups.c))
print(F.compose(tostring, math.sqrt, math.abs)(-16), F.partial(math.max, 3, nil and 1 or 2)(1, 9))
print(List(F.flatten({ 1, { 2, { 3, { 4 } }, 5 }, {} })))
print(List({ 3, 1, 2 }).unknown, pcall(function() return List({}):unknown() end))
