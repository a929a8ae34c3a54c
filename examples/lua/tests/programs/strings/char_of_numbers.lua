print(string.char())
print(string.char(72, 101, 108, 108, 111))
print(#string.char(0, 0, 255))
print(string.char(65.7, "66"))
print(pcall(string.char, 256))
print(pcall(string.char, -1))
print(pcall(string.char, 65, 66, 300))
print(pcall(string.char, "x"))
print(pcall(string.char, {}))
local all = {}
for i = 0, 255 do all[#all + 1] = string.char(i) end
local text = table.concat(all)
print(#text, text:byte(128), text:byte(256))
print(string.char(text:byte(66, 70)))
