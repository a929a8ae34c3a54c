local t = { 10, 20, 30, x = 1, y = 2, z = 3 }
local keys = {}
local key, value = next(t)
while key ~= nil do
  keys[#keys + 1] = tostring(key) .. "=" .. value
  key, value = next(t, key)
end
table.sort(keys)
print(table.concat(keys, " "))
print(next({}), next({}, nil))
print(next({ 5 }), next({ 5 }, 1))
print(pcall(next, {}, "absent"))
print(pcall(next, { 1, 2 }, 3))
print(pcall(next))
print(pcall(next, "x"))
print(type(next({ a = 1 })))
print(next({ a = "only" }))
