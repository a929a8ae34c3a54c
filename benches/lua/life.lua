-- The game of life on a torus, as a table of rows.
-- longer: 5800
local n = tonumber(arg[1]) or 1000

local SIZE = 64

local function board()
  local rows = {}
  for y = 1, SIZE do
    rows[y] = {}
    for x = 1, SIZE do rows[y][x] = 0 end
  end
  return rows
end

local function step(old, new)
  for y = 1, SIZE do
    local above, here, below = old[(y - 2) % SIZE + 1], old[y], old[y % SIZE + 1]
    local row = new[y]
    for x = 1, SIZE do
      local left, right = (x - 2) % SIZE + 1, x % SIZE + 1
      local count = above[left] + above[x] + above[right] + here[left] + here[right]
        + below[left] + below[x] + below[right]
      row[x] = (count == 3 or (count == 2 and here[x] == 1)) and 1 or 0
    end
  end
end

-- A glider, an acorn and a row.
local SHAPES = {
  { 5, 5, { { 1, 0 }, { 2, 1 }, { 0, 2 }, { 1, 2 }, { 2, 2 } } },
  { 30, 30, { { 1, 0 }, { 3, 1 }, { 0, 2 }, { 1, 2 }, { 4, 2 }, { 5, 2 }, { 6, 2 } } },
  { 10, 50, { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }, { 5, 0 }, { 6, 0 }, { 7, 0 }, { 8, 0 }, { 9, 0 } } },
}

local now, next = board(), board()
for _, shape in ipairs(SHAPES) do
  for _, at in ipairs(shape[3]) do now[shape[2] + at[2]][shape[1] + at[1]] = 1 end
end
local sum = 0
for generation = 1, n do
  step(now, next)
  now, next = next, now
  local alive = 0
  for y = 1, SIZE do
    local row = now[y]
    for x = 1, SIZE do alive = alive + row[x] end
  end
  sum = (sum * 31 + alive * generation) % 1000003
end
print("life " .. n .. " " .. sum)
assert(n ~= 1000 or sum == 494472)
