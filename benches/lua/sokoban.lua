-- Finds the fewest pushes and steps that solve small levels of Sokoban: a search through positions that are strings, with a queue and
-- a set of the strings seen.
-- longer: 12
local n = tonumber(arg[1]) or 3

-- '#' wall, '.' goal, '$' box, '@' man.
local LEVELS = {
  { "########", "#  .  .#", "# $$   #", "#  @ $ #", "#     .#", "########" },
  { "#######", "#.   .#", "# $$$ #", "#  @  #", "#  .  #", "#######" },
  { "########", "#   #  #", "# $  $ #", "#  .#. #", "## @   #", "########" },
}

local function read(level)
  local width = #level[1]
  local text = table.concat(level)
  local goals, walls, start = {}, {}, nil
  for at = 1, #text do
    local c = text:sub(at, at)
    goals[at], walls[at] = c == ".", c == "#"
    if c == "@" then start = at end
  end
  local boxes = text:gsub("[#.@]", " ")
  return { width = width, goals = goals, walls = walls, man = start, boxes = boxes }
end

local function is_solved(level, boxes)
  for at, is_goal in ipairs(level.goals) do
    if is_goal and boxes:byte(at) ~= 36 then return false end
  end
  return true
end

local function key(boxes, man)
  return boxes:sub(1, man - 1) .. "@" .. boxes:sub(man + 1)
end

local function solve(level)
  local steps = { 1, -1, level.width, -level.width }
  local queue, first, last = { { boxes = level.boxes, man = level.man, depth = 0 } }, 1, 1
  local seen = { [key(level.boxes, level.man)] = true }
  while first <= last do
    local state = queue[first]
    queue[first] = nil
    first = first + 1
    if is_solved(level, state.boxes) then return state.depth, last end
    for _, step in ipairs(steps) do
      local to, boxes = state.man + step, state.boxes
      local may_go = not level.walls[to]
      if may_go and boxes:byte(to) == 36 then
        local beyond = to + step
        may_go = not level.walls[beyond] and boxes:byte(beyond) ~= 36
        if may_go then
          local low, high = math.min(to, beyond), math.max(to, beyond)
          local moved = step > 0 and " " or "$"
          local other = step > 0 and "$" or " "
          boxes = boxes:sub(1, low - 1) .. moved .. boxes:sub(low + 1, high - 1) .. other .. boxes:sub(high + 1)
        end
      end
      if may_go then
        local name = key(boxes, to)
        if not seen[name] then
          seen[name] = true
          last = last + 1
          queue[last] = { boxes = boxes, man = to, depth = state.depth + 1 }
        end
      end
    end
  end
  return -1, last
end

local sum = 0
for round = 1, n do
  for i, level in ipairs(LEVELS) do
    local depth, states = solve(read(level))
    sum = (sum * 7 + depth * 1000 + states * i) % 1000003
  end
end
print("sokoban " .. n .. " " .. sum)
assert(n ~= 3 or sum == 354927)
