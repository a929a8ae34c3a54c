local function u32(n) return string.char(n % 256, math.floor(n / 256) % 256, math.floor(n / 65536) % 256, math.floor(n / 16777216) % 256) end
local function read32(s, at) local a, b, c, d = s:byte(at, at + 3) return a + b * 256 + c * 65536 + d * 16777216 end
for _, n in ipairs({ 0, 1, 255, 256, 65535, 2 ^ 31, 2 ^ 32 - 1, 3735928559 }) do print(n, read32(u32(n), 1) == n, (u32(n):gsub(".", function(c) return ("%02x"):format(c:byte()) end))) end
local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local function encode(s)
  return (s:gsub("..?.?", function(group)
    local a, b, c = group:byte(1, 3)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    local out = ""
    for i = 3, 0, -1 do local d = math.floor(n / 64 ^ i) % 64 out = out .. alphabet:sub(d + 1, d + 1) end
    return b == nil and out:sub(1, 2) .. "==" or c == nil and out:sub(1, 3) .. "=" or out
  end))
end
local function decode(s)
  return (s:gsub("....", function(group)
    local n, pad = 0, select(2, group:gsub("=", ""))
    for c in group:gmatch(".") do n = n * 64 + (c == "=" and 0 or alphabet:find(c, 1, true) - 1) end
    return string.char(math.floor(n / 65536), math.floor(n / 256) % 256, n % 256):sub(1, 3 - pad)
  end))
end
for _, text in ipairs({ "", "f", "fo", "foo", "foob", "Hello, World!", "\0\1\254\255" }) do print(encode(text), decode(encode(text)) == text) end
local function bits(n, width) local t = {} for i = width, 1, -1 do t[i] = n % 2 n = math.floor(n / 2) end return table.concat(t) end
print(bits(5, 8), bits(255, 8), tonumber(bits(1234, 16), 2))
local function bxor(a, b) local r, p = 0, 1 while a > 0 or b > 0 do if a % 2 ~= b % 2 then r = r + p end a, b, p = math.floor(a / 2), math.floor(b / 2), p * 2 end return r end
print(bxor(12, 10), bxor(255, 1), bxor(2 ^ 31, 1))
local function crc(s)
  local c = 4294967295
  for i = 1, #s do
    c = bxor(c, s:byte(i))
    for _ = 1, 8 do if c % 2 == 1 then c = bxor(math.floor(c / 2), 3988292384) else c = c / 2 end end
  end
  return ("%08x"):format(4294967295 - c)
end
print(crc("123456789"), crc(""))
