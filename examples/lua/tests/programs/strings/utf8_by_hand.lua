local function decode(s)
  local out = {}
  for c in s:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    local first = c:byte()
    local n = first < 128 and first or first < 224 and first % 32 or first < 240 and first % 16 or first % 8
    for i = 2, #c do n = n * 64 + c:byte(i) % 64 end
    out[#out + 1] = n
  end
  return out
end
local function encode(n)
  if n < 128 then return string.char(n) end
  if n < 2048 then return string.char(192 + math.floor(n / 64), 128 + n % 64) end
  if n < 65536 then return string.char(224 + math.floor(n / 4096), 128 + math.floor(n / 64) % 64, 128 + n % 64) end
  return string.char(240 + math.floor(n / 262144), 128 + math.floor(n / 4096) % 64, 128 + math.floor(n / 64) % 64, 128 + n % 64)
end
for _, s in ipairs({ "abc", "grüße", "日本語", "a€b", "😀!" }) do
  local codes = decode(s)
  local back = {}
  for i, n in ipairs(codes) do back[i] = encode(n) end
  print(s, #s, #codes, table.concat(codes, " "), table.concat(back) == s)
end
print(("größe"):upper(), ("größe"):len(), ("größe"):reverse() ~= "eßörg", ("ä"):byte(1, -1))
print(("naïve"):gsub("[\128-\255]+", "?"), ("日本"):sub(1, 3))
