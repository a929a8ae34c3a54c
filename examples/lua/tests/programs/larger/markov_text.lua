local text = [[the quick brown fox jumps over the lazy dog and the quick cat jumps over the brown dog while the lazy fox
sleeps and the dog barks over the quick fox]]
local seed = 7
local function random(n) seed = (seed * 1664525 + 1013904223) % 4294967296 return math.floor(seed / 4294967296 * n) + 1 end
local chain = {}
local function words() return text:gmatch("%a+") end
local a, b = "\n", "\n"
local function insert(key, word)
  local list = chain[key]
  if not list then list = {} chain[key] = list end
  list[#list + 1] = word
end
for word in words() do
  insert(a .. " " .. b, word)
  a, b = b, word
end
insert(a .. " " .. b, "\n")
local states, most = 0, 0
for _, list in pairs(chain) do states = states + 1 most = math.max(most, #list) end
print(states, most)
for _ = 1, 5 do
  local line = {}
  a, b = "\n", "\n"
  for _ = 1, 12 do
    local list = chain[a .. " " .. b]
    local word = list[random(#list)]
    if word == "\n" then break end
    line[#line + 1] = word
    a, b = b, word
  end
  print(table.concat(line, " "))
end
local frequency = {}
for word in words() do frequency[word] = (frequency[word] or 0) + 1 end
local list = {}
for word, n in pairs(frequency) do list[#list + 1] = { word = word, n = n } end
table.sort(list, function(x, y) if x.n ~= y.n then return x.n > y.n end return x.word < y.word end)
for i = 1, 6 do io.write(list[i].word, "=", list[i].n, " ") end
print()
