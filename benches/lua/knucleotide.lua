-- Counts the pieces of some lengths in a made-up strand of DNA.
-- longer: 3900000
local n = tonumber(arg[1]) or 500000

local seed = 42
local function random()
  seed = (seed * 3877 + 29573) % 139968
  return seed / 139968
end

local function strand(length)
  local parts = {}
  for i = 1, length do
    local r = random()
    parts[i] = r < 0.3 and "a" or r < 0.5 and "c" or r < 0.7 and "g" or "t"
  end
  return table.concat(parts)
end

local function counts(text, length)
  local of = setmetatable({}, { __index = function() return 0 end })
  for at = 1, #text - length + 1 do
    local piece = text:sub(at, at + length - 1)
    of[piece] = of[piece] + 1
  end
  return of
end

local function ordered(of)
  local list = {}
  for piece, count in pairs(of) do list[#list + 1] = { piece = piece, count = count } end
  table.sort(list, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    return a.piece < b.piece
  end)
  return list
end

local text, sum = strand(n), 0
local function add(value) sum = (sum * 31 + value) % 1000003 end
for length = 1, 3 do
  for _, it in ipairs(ordered(counts(text, length))) do
    add(it.count)
    add(it.piece:byte(1))
  end
end
for _, piece in ipairs({ "ggt", "ggta", "ggtatt", "ggtattttaatt" }) do
  add(counts(text, #piece)[piece])
end
print("knucleotide " .. n .. " " .. sum)
assert(n ~= 500000 or sum == 982979)
