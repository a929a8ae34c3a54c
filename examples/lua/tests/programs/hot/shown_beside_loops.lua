-- Functions inlined side by side: one that others may see at work, behind it one with a loop that only computes.
local floor, byte = math.floor, string.byte
local kept = {}
local function keep(x)
  local list = { x, x + 1 }
  kept[x % 7] = list
  return #list
end
local function halves(n)
  local sum = 0
  for i = 1, n do sum = sum + floor(i / 2) end
  return sum
end
local function bytes(text, n)
  local sum = 0
  for i = 1, n do sum = sum + byte(text, i) end
  return sum
end
local function all(n)
  local sum = 0
  for i = 1, n do sum = sum + keep(i) + halves(i % 5) + bytes("hello", i % 5) end
  return sum
end
for i = 1, 30 do io.write(all(40), " ") end
print()
