local parts = { "return {" }
for i = 1, 1000 do parts[#parts + 1] = i .. "," end
parts[#parts + 1] = "}"
local t = assert(loadstring(table.concat(parts)))()
print(#t, t[1], t[49], t[50], t[51], t[100], t[1000])
local function many() return unpack(t, 1, 120) end
local u = { "first", many() }
print(#u, u[1], u[2], u[121])
local v = { many(), many() }
print(#v, v[1], v[2], v[121])
parts = { "return {" }
for i = 1, 300 do parts[#parts + 1] = "k" .. i .. "=" .. i .. "," end
parts[#parts + 1] = "}"
local w = assert(loadstring(table.concat(parts)))()
local sum = 0
for _, value in pairs(w) do sum = sum + value end
print(sum, w.k1, w.k300)
