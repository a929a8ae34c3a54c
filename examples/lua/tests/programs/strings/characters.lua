-- Characters of texts, one by one: hot loops, and each kind of position that is not one.
local text = "hello, world \0\255 of characters"
local function all(s) local t = {} for i = 1, #s do local c = s:sub(i, i) t[#t + 1] = c:byte() end return table.concat(t, " ") end
for _ = 1, 300 do all(text) end
print(all(text), all(""), all("x"))
local function at(s, i, k) return (s:sub(i, k)) end
for r = 1, 2000 do at(text, r % 20 + 1, r % 20 + 1) end
local odd = { 0, -1, -3, 1.5, 2.9, 29, 30, 31, 1e9, -1e9, 2 ^ 31, 2 ^ 53, 2 ^ 63, 2 ^ 64, -2 ^ 63, 1e300, 1 / 0, -1 / 0, "2", " 3 ", "0x4" }
for _, i in ipairs(odd) do io.write(tostring(i), " ", ("%q"):format(at("abcdef", i, i)), ("%q"):format(at("abcdef", i, -1)), ("%q"):format(at("abcdef", 1, i)), "\n") end
for _, p in ipairs { { 1, 2 }, { 2, 1 }, { 3, 3 }, { -3, -3 }, { 6, 6 }, { 7, 7 }, { 0, 0 } } do print(p[1], p[2], at("abcdef", p[1], p[2]), (string.sub(123456, p[1], p[2]))) end
print(pcall(at, nil, 1, 1))
print(select(2, pcall(at, "x", {}, 1)):match "bad argument.*")
print(pcall(string.sub, "x", 1, "y"))
print(at("abc", 2, nil), at("abc", 3, 3.2))
-- Each byte, made in one loop, and found again after the collector has been here.
local every = {}
for b = 0, 255 do every[b + 1] = string.char(b) end
local bytes, seen = table.concat(every), {}
every = nil collectgarbage() collectgarbage()
for r = 1, 3 do
  for i = 1, #bytes do local c = bytes:sub(i, i) seen[c] = (seen[c] or 0) + 1 end
  collectgarbage()
end
local sum, kinds = 0, 0
for c, n in pairs(seen) do kinds = kinds + 1 sum = sum + n * c:byte() end
print(kinds, sum)
-- Who replaces `sub` gets what it says, also in a loop that was fast with the old one.
local function count(s, c) local n = 0 for i = 1, #s do if s:sub(i, i) == c then n = n + 1 end end return n end
for _ = 1, 300 do count(text, "o") end
print(count(text, "o"))
local sub = string.sub
string.sub = function(s, i, k) return sub(s, i, k) == "l" and "o" or "" end
print(count(text, "o"))
string.sub = sub
print(count(text, "o"))
-- Several results, none, and one as an argument.
print((text:sub(2, 2)), text:sub(2, 2), ({ text:sub(3, 3) })[1], #{ text:sub(3, 3), text:sub(4, 4) })
