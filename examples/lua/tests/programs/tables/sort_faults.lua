print(pcall(table.sort))
print(pcall(table.sort, nil))
print(pcall(table.sort, "text"))
print(pcall(table.sort, {}, 5))
print(pcall(table.sort, {}, nil))
print(pcall(table.sort, { 3, 2, 1 }, "x"))
local t = { 1, 2, 3, 4, 5 }
local ok, message = pcall(table.sort, t, function() return true end)
print(ok, message)
