local function count(...) return select("#", ...) end
local t = {}
for i = 1, 5000 do t[i] = i end
print(count(unpack(t)), count(unpack(t, 1, 7000)))
print(math.max(unpack(t)), #string.char(unpack(t, 1, 255)), count(unpack(t, 2)))
local parts = {}
for i = 1, 240 do parts[i] = "a" .. i end
local list = table.concat(parts, ",")
local f = assert(loadstring("return function(" .. table.concat(parts, ",", 1, 190) .. ") return a1, a95, a190 end"))()
print(f(unpack(t, 1, 190)))
print(count(loadstring("local " .. table.concat(parts, ",", 1, 100) .. " = ... return " .. table.concat(parts, ",", 1, 100))(unpack(t))))
print(loadstring("local function f(" .. list .. ") end", "=many"))
local function apply(g, ...) return g(...) end
print(apply(count, unpack(t, 1, 3000)), (apply(math.min, unpack(t, 10, 3000))))
print(#{ unpack(t) }, #{ 1, 2, unpack(t) }, ({ unpack(t) })[5000])
print(#table.concat({ unpack(t) }, ","))
print(pcall(string.byte, ("x"):rep(1000000), 1, -1))
print(select(-1, unpack(t)), (select(4999, unpack(t))))
