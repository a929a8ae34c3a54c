print(#{}, #{ 1 }, #{ 1, 2, 3 }, #{ n = 1 }, #{ 1, 2, x = 3 })
local t = {}
for i = 1, 100 do t[i] = i end
print(#t)
for i = 100, 51, -1 do t[i] = nil end
print(#t)
t[51] = "back"
print(#t)
t[#t + 1] = "next"
print(#t, t[52])
local u = { [1] = "a", [2] = "b", [3] = "c" }
print(#u)
local filled = {}
for i = 10, 1, -1 do filled[i] = i end
print(#filled)
while #filled > 0 do filled[#filled] = nil end
print(#filled, next(filled))
