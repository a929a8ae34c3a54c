local meta = { __lt = function(a, b) return a.rank < b.rank end }
local list = {}
for i, rank in ipairs({ 4, 2, 5, 1, 3 }) do list[i] = setmetatable({ rank = rank }, meta) end
table.sort(list)
for _, item in ipairs(list) do io.write(item.rank, " ") end
print()
table.sort(list, function(a, b) return b < a end)
for _, item in ipairs(list) do io.write(item.rank, " ") end
print()
print(pcall(table.sort, { {}, {} }))
print(pcall(table.sort, { 1, "x" }))
print(pcall(table.sort, { 1, 2, nil, 4, "x" }) == false or "may be")
print(pcall(table.sort, { true, false }))
print(pcall(table.sort, { 1, 2 }, function() error("in order", 0) end))
