-- Found by random programs: what is in the array of a table whose metatable has a function for what is set.
local h, lines = 0, 0
local function hash(v) local t = type(v) if t == "number" then if v ~= v then return 77 end return v % 1000 elseif t == "string" then return #v * 31 + (v:byte(1) or 0) elseif t == "boolean" then return v and 5 or 6 elseif t == "nil" then return 1 elseif t == "function" then return 9 else return 11 end end
local function note(...) for n = 1, select("#", ...) do local v = select(n, ...) if type(v) == "string" and v:find("^[^:]*:%d+:") then v = v:gsub("^.-:%d+: ", "") end h = (h * 131 + hash(v)) % 1000000007 end end
local function fn0(self, n) return n end
local function fn1(self, n) return (rawget(self, "count") or 0) end
local function fn2(self, n) rawset(self, "count", 1) return "two" end
local depth = 0
local function idx0(t, k) return type(k) == "string" and #k or k end
local function idx1(t, k) if k == "area" or k == "step" then return fn1 end return nil end
local function new0(t, k, v) rawset(t, k, v) end
local function new1(t, k, v) h = (h + 1) % 1000000007 end
local function get0(t, k) return t[k] end
local function get1(t, k) local v = t[k] if v == nil then return "none" end return v end
local function set0(t, k, v) t[k] = v end
local function set1(t, k, v) if v == nil then t[k] = nil else t[k] = v end end
local function count(t) local n = 0 for k, v in pairs(t) do n = n + 1 + hash(k) + hash(v) end return n % 100003 end
local function copy(from, to) for k, v in pairs(from) do to[k] = v end return to end
local C, o = {}, {}
local function get_a(t) return t.a end
local function set_a(t, v) t.a = v end
local function get_b(t) return t.b end
local function set_b(t, v) t.b = v end
local function get_c(t) return t.c end
local function set_c(t, v) t.c = v end
local function get_d(t) return t.d end
local function set_d(t, v) t.d = v end
local function get_name(t) return t.name end
local function set_name(t, v) t.name = v end
local function get_x(t) return t.x end
local function set_x(t, v) t.x = v end
local function get_y(t) return t.y end
local function set_y(t, v) t.y = v end
local function get_area(t) return t.area end
local function set_area(t, v) t.area = v end
local function get_step(t) return t.step end
local function set_step(t, v) t.step = v end
local function get_count(t) return t.count end
local function set_count(t, v) t.count = v end
local function call_area(t, n) if type(t.area) == "function" then return t:area(n) end end
local function call_step(t, n) local f = t.step if type(f) == "function" then return f(t, n) end end
C[1] = {count = 1, b = fn0, area = fn1}
C[1].__index = C[1]
C[2] = {}
C[2].__index = idx0
setmetatable(C[2], {__index = idx0})
C[3] = {y = "v", d = true, count = fn1, name = "v"}
C[3].__index = idx1
C[4] = {}
C[5] = {d = fn0}
C[5].__index = C[5]
C[5].__newindex = rawset
setmetatable(C[5], {__index = idx0})
C[6] = {a = fn2}
setmetatable(C[6], {__index = C[3]})
C[7] = {c = "v", name = 1, step = fn1, a = "v"}
C[7].__index = C[7]
C[8] = {c = fn2, name = 1, x = 1}
C[8].__index = C[8]
C[9] = {name = "v", b = fn2, count = fn1}
C[9].__index = C[9]
C[10] = {area = true, y = fn1, name = "v"}
setmetatable(C[10], {__index = idx0})
C[11] = {d = fn1, x = true}
C[11].__newindex = new1
setmetatable(C[11], {__index = idx0})
C[12] = {area = 1, b = fn1, d = fn0}
C[12].__index = C[12]
setmetatable(C[12], {__index = C[11]})
local function make(k)
  local t = {y = 5, 20, 30}
  if k % 3 == 0 then t.d = k elseif k % 3 == 1 then t.name = "n" end
  if k == 7 then for n = 1, 45 do t["k" .. n] = n end end
  if k % 2 ~= 0 then setmetatable(t, C[k]) end
  return t end
for k = 1, 12 do o[k] = make(k) end
local function work0(n) for i = 1, n do
  note(count(o[i % #o + 1]))
  note(rawget(o[(i * 7) % #o + 1], "y"))
  set_x(o[6], nil)
  rawset(o[(i * 7) % #o + 1], "step", i)
  set1(o[i % #o + 1], "b", 86)
end end
local function work1(n) for i = 1, n do
  if i % 9 == 0 then set_a(o[i % #o + 1], 37) else if i == 168 then rawset(C[11], "step", 75) end end
  note(get1(o[(i * 7) % #o + 1], "step"))
  note(call_step(o[(i * 7) % #o + 1], i))
  set1(o[(i * 7) % #o + 1], "c", fn0)
  if i == 201 then C[9].__newindex = {} end
  note(pcall(get0, o[(i * 7) % #o + 1], "a"))
  note(call_step(o[5], i))
  set1(o[(i * 7) % #o + 1], 2, 54)
end end
for r = 1, 6 do local ok, m = pcall(work0, 260) if not ok then print(m) end end
print(h)
for r = 1, 3 do local ok, m = pcall(work1, 100) if not ok then print(m) end end
print(h)
note(pcall(work0, 260)) print(h)
note(pcall(work1, 260)) print(h)

