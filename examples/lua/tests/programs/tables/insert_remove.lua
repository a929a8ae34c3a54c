local t = {}
table.insert(t, "a")
table.insert(t, "c")
table.insert(t, 2, "b")
table.insert(t, 1, "start")
table.insert(t, #t + 1, "end")
print(table.concat(t, " "))
print(table.remove(t), table.remove(t, 1), table.remove(t, 2))
print(table.concat(t, " "), #t)
print(table.remove({}), table.remove({}, 1), select("#", table.remove({})))
print(table.remove(t, 5), table.remove(t, 3), #t)
print(select("#", table.insert(t, "x")))
local big = {}
for i = 1, 100 do table.insert(big, 1, i) end
print(big[1], big[100], #big)
for i = 1, 50 do table.remove(big, 1) end
print(big[1], #big)
