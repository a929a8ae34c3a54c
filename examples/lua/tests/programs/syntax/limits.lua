local names = {}
for i = 1, 200 do names[i] = "v" .. i end
print(loadstring("local " .. table.concat(names, ",") .. " = 1 return v1, v200", "=c")())
names[201] = "v201"
print(loadstring("local " .. table.concat(names, ","), "=c"))
local params = {}
for i = 1, 240 do params[i] = tostring(i) end
print(select("#", loadstring("return " .. table.concat(params, ","))()))
local constants = {}
for i = 1, 600 do constants[i] = "t[" .. i .. "]=" .. i + 0.5 end
local t = loadstring("local t = {} " .. table.concat(constants, " ") .. " return t")()
print(t[1], t[300], t[600])
local strings = {}
for i = 1, 400 do strings[i] = "g" .. i .. "='s" .. i .. "'" end
loadstring(table.concat(strings, "\n"))()
print(g1, g255, g256, g257, g400)
local long = {}
for i = 1, 3000 do long[i] = "x = x + 1" end
x = 0
loadstring(table.concat(long, "\n"))()
print(x)
