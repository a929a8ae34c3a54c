local function show(t) print(table.concat(t, " ")) end
local t = { 5, 2, 8, 1, 9, 3, 7, 4, 6, 0 }
table.sort(t) show(t)
table.sort(t, function(a, b) return a > b end) show(t)
local words = { "pear", "fig", "apple", "kiwi", "banana" }
table.sort(words) show(words)
table.sort(words, function(a, b) if #a ~= #b then return #a < #b end return a < b end) show(words)
table.sort({}) table.sort({ 1 })
local mixed = { 3.5, -1, 1e10, 0, -1e-5 }
table.sort(mixed) show(mixed)
local records = { { n = "x", v = 3 }, { n = "y", v = 1 }, { n = "z", v = 2 } }
table.sort(records, function(a, b) return a.v < b.v end)
for _, r in ipairs(records) do io.write(r.n, r.v, " ") end
print()
local same = { 1, 1, 1, 1, 1 }
table.sort(same) show(same)
local long = {}
for i = 1, 500 do long[i] = (i * 7919) % 503 end
table.sort(long)
local sorted = true
for i = 2, #long do sorted = sorted and long[i - 1] <= long[i] end
print(sorted, long[1], long[500])
print(select("#", table.sort({ 2, 1 })))
