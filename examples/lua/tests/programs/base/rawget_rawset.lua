local t = setmetatable({}, {
  __index = function(_, key) return "from index " .. tostring(key) end,
  __newindex = function(_, key, value) print("newindex", key, value) end,
})
t.a = 1
print(rawget(t, "a"), t.a)
print(rawset(t, "a", 2) == t)
print(rawget(t, "a"), t.a)
rawset(t, 1, "one")
print(t[1], rawget(t, 1), rawget(t, 2), t[2])
rawset(t, "a", nil)
print(rawget(t, "a"), t.a)
print(pcall(rawset, t, nil, 1))
print(pcall(rawset, t, 0 / 0, 1))
print(rawget(t, nil), rawget(t, 0 / 0))
print(pcall(rawget, 1, 1))
print(pcall(rawget, {}))
print(pcall(rawset, {}, 1))
print(pcall(rawset, "x", 1, 2))
