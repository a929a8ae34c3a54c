local parts = {}
for i = 1, 1000 do parts[#parts + 1] = i end
local text = table.concat(parts, ",")
print(#text, text:sub(1, 20), text:sub(-10))
local s = ""
for i = 1, 300 do s = s .. string.char(97 + i % 26) end
print(#s, s:sub(1, 30))
local sum = 0
for i = 1, #s do sum = (sum * 31 + s:byte(i)) % 1000000007 end
print(sum)
local count = {}
for c in s:gmatch(".") do count[c] = (count[c] or 0) + 1 end
print(count.a, count.b, count.z)
