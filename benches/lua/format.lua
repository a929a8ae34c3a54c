-- Formats and reads numbers and strings.
-- longer: 600000
local n = tonumber(arg[1]) or 98000

local format = string.format

local sum = 0
local function add(text)
  sum = (sum * 31 + #text * 7 + text:byte(1) + text:byte(#text)) % 1000003
end

for i = 1, n do
  add(format("%d", i * 7919))
  add(format("%5d|%-8d|%08d", i, i % 1000, i * 3))
  add(format("%x %X %o", i * 31, i * 17, i))
  add(format("%.3f %10.2f", i / 7, i * 1.5))
  add(format("%g %e", i * 0.001, i * 1000.5))
  add(format("%s=%q", "key" .. i % 100, "a \"quoted\"\nvalue"))
  add(format("%c%c%%%-10s%10s", 65 + i % 26, 97 + i % 26, "left", "right"))
  add(tostring(i / 8 + 0.0625))
  sum = (sum + tonumber(format("%.2f", i / 4)) * 100 + tonumber("0x" .. format("%x", i)) + tonumber(format("%d", i), 10)) % 1000003
end
sum = format("%d", sum)
print("format " .. n .. " " .. sum)
assert(n ~= 98000 or sum == "90660")
