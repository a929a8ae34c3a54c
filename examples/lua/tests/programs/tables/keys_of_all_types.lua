local t = {}
local function f() end
local c = coroutine.create(f)
local inner = {}
local keys = { 1, 1.5, -1, "s", true, false, f, c, inner, print, newproxy(), 1e300, 2 ^ 53, -0.5, 1 / 0, -1 / 0 }
for i, key in ipairs(keys) do t[key] = i end
for i, key in ipairs(keys) do if t[key] ~= i then print("wrong", i) end end
local count = 0
for _ in pairs(t) do count = count + 1 end
print(count, #keys)
print(t[0], t[nil], t[0 / 0], t[{}], t["1"])
t[0] = "zero"
print(t[-0], t[0], rawget(t, -0))
print(pcall(function() t[nil] = 1 end))
print(pcall(function() t[0 / 0] = 1 end))
t[1.0] = "float one"
print(t[1], t[3 - 2], t[10 / 10])
for _, key in ipairs(keys) do t[key] = nil end
t[0] = nil
print(next(t))
