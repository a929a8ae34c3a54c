-- reads and writes that metatables have functions for; what is absent
local log = 0
local P = {}
P.__index = function(t, k) log = log + 1 if k == "boom" then error("no " .. k) end return k end
P.__newindex = function(t, k, v) log = log + 1 rawset(t, k, v) end
local function proxy() return setmetatable({}, P) end
local function get(t, k) return t[k] end
local function set(t, k, v) t[k] = v end
local function field(t) return t.name end
local function setfield(t, v) t.name = v end
for r = 1, 60 do
  local p = proxy()
  assert(get(p, 1) == 1 and get(p, "a") == "a" and get(p, 1.5) == 1.5 and get(p, true) == true and get(p, p) == p)
  assert(get(p, nil) == nil)
  assert(field(p) == "name")
  set(p, 1, 10) set(p, "a", 20) set(p, 2.5, 3) set(p, 100, 4)
  assert(get(p, 1) == 10 and get(p, "a") == 20 and get(p, 2.5) == 3 and get(p, 100) == 4 and get(p, 2) == 2 and get(p, "b") == "b")
  setfield(p, "x") assert(field(p) == "x") setfield(p, "y") assert(field(p) == "y")
  setfield(p, nil) assert(field(p) == "name")
  if r % 20 == 0 then
    print(log, pcall(get, p, "boom"))
    print(pcall(set, p, nil, 1)) print(pcall(set, p, 0/0, 1)) print(pcall(set, {}, nil, 1)) print(pcall(set, {}, 0/0, 1))
    print(pcall(set, proxy(), nil, 1)) print(pcall(set, proxy(), 0/0, 1))
  end
end
print(log)
-- the function changes, goes, becomes a table, becomes of Rust
P.__index = function(t, k) return "other" end
print(get(proxy(), 1), field(proxy()))
P.__index = nil print(get(proxy(), 1), field(proxy()))
P.__index = {name = "inherited", [1] = "one"} print(get(proxy(), 1), field(proxy()), get(proxy(), "name"))
P.__index = rawget print(get(proxy(), 1), field(proxy()))
P.__index = string.rep print(pcall(get, proxy(), 1))
P.__index = function(t, k) return k, 2, 3 end print(get(proxy(), 1), (field(proxy())))
P.__newindex = nil do local p = proxy() set(p, 1, 2) setfield(p, 3) print(rawget(p, 1), rawget(p, "name")) end
local store = {} P.__newindex = store do local p = proxy() set(p, 1, 2) setfield(p, 3) print(rawget(p, 1), rawget(p, "name"), store[1], store.name) end
P.__newindex = function(...) store.n = select("#", ...) end do local p = proxy() set(p, 1, 2) setfield(p, 3) print(rawget(p, 1), rawget(p, "name"), store.n) end
-- absent elements: arrays, holes, maps, mixed
local function count(t, n) local c = 0 for i = -2, n do if get(t, i) == nil then c = c + 1 end end return c end
for r = 1, 40 do
  local a = {1, 2, 3} local h = {1, nil, 3, nil, 5} local m = {[1.5] = 1, [-1] = 2, x = 1}
  if r % 10 == 0 then print(count(a, 10), count(h, 10), count(m, 10), get(m, "x"), get(m, "y"), get(m, 1.5), get(m, 2.5), get(a, "x"), get(a, nil)) end
  a[2] = nil h[1] = nil m[-1] = nil
  if r % 10 == 0 then print(count(a, 10), count(h, 10), count(m, 10)) end
end
local map = {}
for i = 1, 100 do set(map, "k" .. i, i) end
local hits = 0
for i = 1, 300 do if get(map, "k" .. i) then hits = hits + 1 end end
print(hits, map.k5, map.nothing, field(map))
for i = 1, 100, 2 do set(map, "k" .. i, nil) end
hits = 0 for i = 1, 300 do if get(map, "k" .. i) then hits = hits + 1 end end
print(hits, map.k5, map.k6)
setmetatable(map, {__index = function(t, k) return "?" .. tostring(k) end})
for i = 1, 30 do assert(get(map, "k5") == "?k5" and get(map, "k6") == 6 and get(map, 7) == "?7" and map.k7 == "?k7" and field(map) == "?name") end
local weak = setmetatable({}, {__mode = "k"})
for i = 1, 50 do weak[{}] = i end collectgarbage() collectgarbage()
local left = 0 for k in pairs(weak) do left = left + 1 end print(left, get(weak, {}), get(weak, 1))
-- classes with default functions, two levels
local Base = setmetatable({}, {__index = function(c, k) return "base " .. k end}) Base.__index = Base
local D = setmetatable({}, Base) D.__index = D
for i = 1, 50 do local o = setmetatable({}, D) assert(o.foo == "base foo" and get(o, "bar") == "base bar" and get(o, 3) == "base 3") end
-- memo
local calls = 0
local memo = setmetatable({}, {__index = function(t, k) calls = calls + 1 local v = k * k t[k] = v return v end})
local s = 0 for r = 1, 20 do for i = 1, 50 do s = s + memo[i] end end print(s, calls)
-- globals by function
local env = setmetatable({}, {__index = function(t, k) return _G[k] or "none" end, __newindex = function(t, k, v) rawset(t, k, v * 2) end})
local f = setfenv(loadstring("for i = 1, 40 do a = i end return a, undefined, type(print)"), env)
print(f()) print(rawget(env, "a"))
-- errors name things
print(pcall(function() local t = setmetatable({}, {__index = function(t, k) local x = nil; return x.y end}) for i = 1, 30 do local _ = t.z end end))
-- a name whose value is nil, and is not again; also where it is inherited meanwhile
local function flip(t, k, v) set(t, k, nil) local a = get(t, k) set(t, k, v) local b = get(t, k) return a, b end
local parent = {x = "of parent", z = "z"}
for r = 1, 40 do
  local t, c = {x = 1}, setmetatable({x = 2, y = 3}, {__index = parent})
  local a, b = flip(t, "x", r) assert(a == nil and b == r)
  a, b = flip(c, "x", r) assert(a == "of parent" and b == r)
  a, b = flip(c, "y", r) assert(a == nil and b == r)
  assert(get(c, "z") == "z") set(c, "z", r) assert(get(c, "z") == r)
  assert(get(t, "q" .. r) == nil) set(t, "q" .. r, r) assert(get(t, "q" .. r) == r)
end
print(parent.x)
