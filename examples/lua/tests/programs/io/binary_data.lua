local name = os.tmpname()
local all = {}
for i = 0, 255 do all[#all + 1] = string.char(i) end
local text = table.concat(all)
local file = io.open(name, "wb") file:write(text, text) file:close()
file = io.open(name, "rb")
local back = file:read("*a")
print(#back, back == text .. text)
file:seek("set")
print(file:read(11):byte(1, -1))
print(file:read(1):byte(), file:read(3):byte(1, -1))
file:close()
file = io.open(name, "wb") file:write("a\200b\n\255\254\1d\r\nend") file:close()
for l in io.lines(name) do io.write(#l, " ", l:byte(1), " ", l:byte(-1), " ") end
print()
os.remove(name)
