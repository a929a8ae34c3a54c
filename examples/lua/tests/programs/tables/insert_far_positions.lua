local t = { 1, 2, 3 }
table.insert(t, 10, "far")
print(t[10], t[3], t[4], t[9])
local u = { 1, 2, 3 }
print(table.remove(u, 0), #u)
print(table.remove(u, -5), #u)
print(table.remove(u, 4), #u)
local v = {}
table.insert(v, 0, "zero")
print(v[0], v[1])
