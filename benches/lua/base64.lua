-- Base 64, there and back: bytes to characters by arithmetic, and pieces collected in a table.
-- longer: 1200
local n = tonumber(arg[1]) or 210

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local encoding, decoding = {}, {}
for i = 0, 63 do
  local c = ALPHABET:sub(i + 1, i + 1)
  encoding[i], decoding[c:byte()] = c, i
end

local floor, char = math.floor, string.char

local function encode(text)
  local out = {}
  for at = 1, #text - 2, 3 do
    local a, b, c = text:byte(at, at + 2)
    local bits = a * 65536 + b * 256 + c
    out[#out + 1] = encoding[floor(bits / 262144)] .. encoding[floor(bits / 4096) % 64]
      .. encoding[floor(bits / 64) % 64] .. encoding[bits % 64]
  end
  local left = #text % 3
  if left > 0 then
    local a, b = text:byte(#text - left + 1, #text)
    local bits = a * 65536 + (b or 0) * 256
    out[#out + 1] = encoding[floor(bits / 262144)] .. encoding[floor(bits / 4096) % 64]
    out[#out + 1] = left == 2 and encoding[floor(bits / 64) % 64] .. "=" or "=="
  end
  return table.concat(out)
end

local function decode(text)
  local out = {}
  for at = 1, #text, 4 do
    local a, b, c, d = text:byte(at, at + 3)
    local bits = decoding[a] * 262144 + decoding[b] * 4096 + (decoding[c] or 0) * 64 + (decoding[d] or 0)
    local one, two, three = floor(bits / 65536), floor(bits / 256) % 256, bits % 256
    out[#out + 1] = not decoding[c] and char(one) or not decoding[d] and char(one, two) or char(one, two, three)
  end
  return table.concat(out)
end

local bytes, seed = {}, 99
for i = 1, 10000 do
  seed = seed * 16807 % 2147483647
  bytes[i] = char(seed % 256)
end
local text, sum = table.concat(bytes), 0
for round = 1, n do
  local part = text:sub(round % 100 + 1)
  local coded = encode(part)
  if decode(coded) ~= part then error("not the same") end
  for i = 1, #coded, 29 do sum = (sum * 31 + coded:byte(i)) % 1000003 end
end
print("base64 " .. n .. " " .. sum)
assert(n ~= 210 or sum == 345203)
