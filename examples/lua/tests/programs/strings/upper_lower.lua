print(("Hello World 123!"):upper(), ("Hello World 123!"):lower())
print((""):upper(), (""):lower())
print(("a\0b"):upper() == "A\0B")
print(("\228\246"):upper() == "\228\246")
print(string.upper(12), string.lower(1e100))
print(pcall(string.upper))
print(pcall(string.lower, nil))
print(pcall(string.upper, {}))
local alphabet = {}
for i = 32, 126 do alphabet[#alphabet + 1] = string.char(i) end
local text = table.concat(alphabet)
print(text:upper())
print(text:lower())
