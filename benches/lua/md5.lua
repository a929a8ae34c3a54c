-- MD5 in plain arithmetic: the operations on bits go through a table of four bits by four.
-- longer: 2400
local n = tonumber(arg[1]) or 350

local floor = math.floor

local function nibbles(operation)
  local of = {}
  for a = 0, 15 do
    of[a] = {}
    for b = 0, 15 do
      local result, bit, x, y = 0, 1, a, b
      for _ = 1, 4 do
        if operation(x % 2, y % 2) then result = result + bit end
        x, y, bit = floor(x / 2), floor(y / 2), bit * 2
      end
      of[a][b] = result
    end
  end
  return function(a, b)
    local result, by = 0, 1
    for _ = 1, 8 do
      local x, y = a % 16, b % 16
      result = result + of[x][y] * by
      a, b, by = (a - x) / 16, (b - y) / 16, by * 16
    end
    return result
  end
end

local band = nibbles(function(x, y) return x == 1 and y == 1 end)
local bor = nibbles(function(x, y) return x == 1 or y == 1 end)
local bxor = nibbles(function(x, y) return x ~= y end)
local function bnot(a) return 4294967295 - a end

local function rotate(a, by)
  local high = 2 ^ (32 - by)
  local low = a % high
  return low * 2 ^ by + (a - low) / high
end

local K, SHIFTS = {}, { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } }
for i = 0, 63 do K[i] = floor(math.abs(math.sin(i + 1)) * 4294967296) end

local function block(state, words)
  local a, b, c, d = state[1], state[2], state[3], state[4]
  for i = 0, 63 do
    local f, g
    if i < 16 then
      f, g = bor(band(b, c), band(bnot(b), d)), i
    elseif i < 32 then
      f, g = bor(band(d, b), band(bnot(d), c)), (5 * i + 1) % 16
    elseif i < 48 then
      f, g = bxor(b, bxor(c, d)), (3 * i + 5) % 16
    else
      f, g = bxor(c, bor(b, bnot(d))), 7 * i % 16
    end
    local sum = (a + f + K[i] + words[g + 1]) % 4294967296
    a, d, c, b = d, c, b, (b + rotate(sum, SHIFTS[floor(i / 16) + 1][i % 4 + 1])) % 4294967296
  end
  state[1], state[2] = (state[1] + a) % 4294967296, (state[2] + b) % 4294967296
  state[3], state[4] = (state[3] + c) % 4294967296, (state[4] + d) % 4294967296
end

local function md5(text)
  local state = { 1732584193, 4023233417, 2562383102, 271733878 }
  local bits = #text * 8
  text = text .. "\128" .. ("\0"):rep((55 - #text) % 64)
  local length = {}
  for i = 1, 8 do
    length[i] = string.char(bits % 256)
    bits = floor(bits / 256)
  end
  text = text .. table.concat(length)
  for at = 1, #text, 64 do
    local words = {}
    for i = 0, 15 do
      local a, b, c, d = text:byte(at + 4 * i, at + 4 * i + 3)
      words[i + 1] = a + b * 256 + c * 65536 + d * 16777216
    end
    block(state, words)
  end
  local out = {}
  for _, word in ipairs(state) do
    for _ = 1, 4 do
      out[#out + 1] = ("%02x"):format(word % 256)
      word = floor(word / 256)
    end
  end
  return table.concat(out)
end

if md5("") ~= "d41d8cd98f00b204e9800998ecf8427e" then error("of nothing") end
if md5("abc") ~= "900150983cd24fb0d6963f7d28e17f72" then error("of abc") end
local sum = "x"
for _ = 1, n do sum = md5(("0123456789" .. sum):rep(20)) end
print("md5 " .. n .. " " .. sum)
assert(n ~= 350 or sum == "b96210df1c5650f805eb332d2b270345")
