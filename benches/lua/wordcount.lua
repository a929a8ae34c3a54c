-- Counts the words of a made-up text, and lists the most frequent ones.
-- longer: 3900000
local n = tonumber(arg[1]) or 640000

local SYLLABLES = { "ka", "lo", "mi", "ren", "tu", "sa", "vor", "e", "pin", "dal" }

local seed = 7
local function random(below)
  seed = seed * 16807 % 2147483647
  return seed % below
end

local function text(count)
  local words = {}
  for i = 1, count do
    local word = ""
    for _ = 0, random(3) do word = word .. SYLLABLES[random(random(#SYLLABLES) + 1) + 1] end
    if random(9) == 0 then word = word:sub(1, 1):upper() .. word:sub(2) end
    words[i] = word .. (random(8) == 0 and "," or random(12) == 0 and ".\n" or "")
  end
  return table.concat(words, " ")
end

local counts, list, lines = {}, {}, 0
for line in text(n):gmatch("[^\n]+") do
  lines = lines + 1
  for word in line:gmatch("%a+") do
    word = word:lower()
    local count = counts[word]
    if not count then list[#list + 1] = word end
    counts[word] = (count or 0) + 1
  end
end
table.sort(list, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)
local sum = lines
for i = 1, math.min(200, #list) do
  local word = list[i]
  sum = (sum * 31 + counts[word] * #word + word:byte(-1)) % 1000003
end
sum = sum * 10000 + #list
print("wordcount " .. n .. " " .. sum)
assert(n ~= 640000 or sum == 4430651098)
