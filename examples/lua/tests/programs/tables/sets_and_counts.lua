local function set(list) local s = {} for _, v in ipairs(list) do s[v] = true end return s end
local function sorted(s) local l = {} for k in pairs(s) do l[#l + 1] = k end table.sort(l) return table.concat(l, " ") end
local a, b = set({ 1, 2, 3, 4 }), set({ 3, 4, 5 })
local union, both, only = {}, {}, {}
for k in pairs(a) do union[k] = true if b[k] then both[k] = true else only[k] = true end end
for k in pairs(b) do union[k] = true end
print(sorted(union), sorted(both), sorted(only))
local counts = {}
for word in ("the cat and the dog and the bird"):gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
local words = {}
for word, n in pairs(counts) do words[#words + 1] = { word, n } end
table.sort(words, function(x, y) return x[2] > y[2] or x[2] == y[2] and x[1] < y[1] end)
for _, w in ipairs(words) do io.write(w[1], ":", w[2], " ") end
print()
