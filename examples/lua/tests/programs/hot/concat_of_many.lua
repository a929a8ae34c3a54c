local function line(a, b, c, d) return a .. ":" .. b .. ";" .. c .. "," .. d .. "\n" end
local n = 0
for i = 1, 10000 do n = n + #line(i, i * 2, "text", i / 4) end
print(n)
io.write(line(1, 2, 3, 4), line("a", "b", "c", "d"), line(1.5, -2, 1e100, "x"))
print(pcall(line, 1, nil, 3, 4))
print(pcall(line, 1, 2, {}, 4))
print(line(setmetatable({}, { __concat = function(a, b) return type(a) .. "+" .. type(b) end }), 1, 2, 3))
local s = 0
for i = 1, 3000 do local t = i .. "" .. i .. "" s = s + tonumber(t) % 7 end
print(s)
local long = ("x"):rep(1000)
local total = 0
for i = 1, 200 do total = total + #(long .. i .. long .. i .. long) end
print(total)
