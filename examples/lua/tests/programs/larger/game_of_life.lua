local function parse(text)
  local cells = {}
  local y = 0
  for line in text:gmatch("[^\n]+") do
    y = y + 1
    for x = 1, #line do if line:sub(x, x) == "#" then cells[x .. "," .. y] = { x, y } end end
  end
  return cells
end
local function step(cells)
  local counts = {}
  for _, cell in pairs(cells) do
    for dx = -1, 1 do
      for dy = -1, 1 do
        if dx ~= 0 or dy ~= 0 then
          local x, y = cell[1] + dx, cell[2] + dy
          local key = x .. "," .. y
          local entry = counts[key]
          if entry then entry.n = entry.n + 1 else counts[key] = { x, y, n = 1 } end
        end
      end
    end
  end
  local after = {}
  for key, entry in pairs(counts) do
    if entry.n == 3 or entry.n == 2 and cells[key] then after[key] = { entry[1], entry[2] } end
  end
  return after
end
local function show(cells, width, height)
  for y = 1, height do
    local row = {}
    for x = 1, width do row[x] = cells[x .. "," .. y] and "#" or "." end
    print(table.concat(row))
  end
  print()
end
local function count(cells) local n = 0 for _ in pairs(cells) do n = n + 1 end return n end
local glider = parse(".#.\n..#\n###")
for _ = 1, 4 do glider = step(glider) end
show(glider, 5, 5)
local blinker = parse("...\n###\n...")
show(step(blinker), 3, 3)
local r = parse(".##\n##.\n.#.")
local history = {}
for i = 1, 40 do r = step(r) history[i] = count(r) end
print(table.concat(history, " "))
