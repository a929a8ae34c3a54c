local floor, sqrt, max, byte, sub, char, insert, remove = math.floor, math.sqrt, math.max, string.byte, string.sub, string.char, table.insert, table.remove
local s = 0
for i = 1, 20000 do s = s + floor(sqrt(i)) + max(i, 100) end
print(s)
local text = ("abcdefghij"):rep(10)
local n = 0
for i = 1, 20000 do n = n + byte(text, i % 100 + 1) + #sub(text, i % 50, i % 60) end
print(n)
local t = {}
for i = 1, 10000 do insert(t, i) if i % 3 == 0 then remove(t) end end
print(#t, t[#t])
local parts = {}
for i = 1, 1000 do parts[i] = char(97 + i % 26) end
print(#table.concat(parts), table.concat(parts, "", 1, 30))
local total = 0
for i = 1, 20000 do total = total + tonumber(tostring(i)) end
print(total)
local types = {}
for i = 1, 20000 do local k = type(i % 4 == 0 and "s" or i % 4 == 1 and i or i % 4 == 2 and t or nil) types[k] = (types[k] or 0) + 1 end
print(types.string, types.number, types.table, types["nil"])
local formatted = 0
for i = 1, 5000 do formatted = formatted + #("%05d %s %.2f"):format(i, "x", i / 3) end
print(formatted)
local r = 0
for i = 1, 5000 do r = r + #("x=%d,y=%d"):format(i, -i):gsub("%d", "#") end
print(r)
print(pcall(function() for i = 1, 20000 do floor(i < 19999 and i or "not a number") end end))
