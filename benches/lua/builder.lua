-- Builds strings: by concatenation, from parts of a table, by repetition, and a piece at a time that is taken off again.
-- longer: 1300
local n = tonumber(arg[1]) or 250

local function checksum(text)
  local sum = 0
  for i = 1, #text, 13 do sum = (sum * 31 + text:byte(i)) % 1000003 end
  return sum
end

local function numbers(count)
  local text = ""
  for i = 1, count do text = text .. i .. "," end
  return text
end

local function parts(count)
  local out = {}
  for i = 1, count do
    out[#out + 1] = "<item id='" .. i .. "'>"
    out[#out + 1] = ("x"):rep(i % 9)
    out[#out + 1] = "</item>"
  end
  return table.concat(out, "\n")
end

local function reversed(count)
  local text = ""
  for i = 1, count do text = string.char(97 + i % 26) .. text end
  return text:reverse():upper()
end

local function shortened(text)
  local sum = 0
  while #text > 0 do
    sum = (sum + text:byte(1) * #text) % 1000003
    text = text:sub(4)
  end
  return sum
end

local sum = 0
for round = 1, n do
  sum = sum + checksum(numbers(1000 + round)) + checksum(parts(1000)) + checksum(reversed(500)) + shortened(reversed(900))
end
print("builder " .. n .. " " .. sum)
assert(n ~= 250 or sum == 561744512)
