-- The distance of strings: insertions, deletions and changes of a character.
-- longer: 120
local n = tonumber(arg[1]) or 53

local function distance(a, b)
  local before, now = {}, {}
  for j = 0, #b do before[j] = j end
  for i = 1, #a do
    now[0] = i
    local c = a:byte(i)
    for j = 1, #b do
      local best = before[j - 1]
      if c ~= b:byte(j) then
        local insert, delete = now[j - 1], before[j]
        if insert < best then best = insert end
        if delete < best then best = delete end
        best = best + 1
      end
      now[j] = best
    end
    before, now = now, before
  end
  return before[#b]
end

local seed = 5
local function random_word(length)
  local letters = {}
  for i = 1, length do
    seed = seed * 16807 % 2147483647
    letters[i] = string.char(97 + seed % 6)
  end
  return table.concat(letters)
end

local words, sum = {}, 0
for i = 1, n do words[i] = random_word(40 + i % 20) end
for i = 1, n do
  for j = 1, n do sum = (sum * 3 + distance(words[i], words[j])) % 1000003 end
end
print("levenshtein " .. n .. " " .. sum)
assert(n ~= 53 or sum == 203453)
