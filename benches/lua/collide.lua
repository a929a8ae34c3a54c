-- Aircraft on curved ways, and a search for those that come too near: a grid in a table by cell, and vectors that are never changed.
-- longer: 9500
local n = tonumber(arg[1]) or 610

local Vector = {}
Vector.__index = Vector

local function vector(x, y, z) return setmetatable({ x = x, y = y, z = z }, Vector) end

function Vector:plus(other) return vector(self.x + other.x, self.y + other.y, self.z + other.z) end
function Vector:minus(other) return vector(self.x - other.x, self.y - other.y, self.z - other.z) end
function Vector:times(by) return vector(self.x * by, self.y * by, self.z * by) end
function Vector:dot(other) return self.x * other.x + self.y * other.y + self.z * other.z end

local CELL, RADIUS, SIZE = 4, 1.5, 120

-- The position at a time: a triangle wave in each direction, so that no library's sine counts.
local function wave(time, period)
  local at = time % period / period
  return (at < 0.5 and at or 1 - at) * 2
end

local function position(plane, time)
  return vector(wave(time + plane, 61 + plane % 17) * SIZE, wave(time * 2 + 3 * plane, 83 + plane % 13) * SIZE, 10 + plane % 4)
end

local function cells(from, to, visit)
  local low_x, high_x = math.floor((math.min(from.x, to.x) - RADIUS) / CELL), math.floor((math.max(from.x, to.x) + RADIUS) / CELL)
  local low_y, high_y = math.floor((math.min(from.y, to.y) - RADIUS) / CELL), math.floor((math.max(from.y, to.y) + RADIUS) / CELL)
  for x = low_x, high_x do
    for y = low_y, high_y do visit(x * 1000 + y) end
  end
end

-- Whether two moving points come near each other in the step, and when.
local function meeting(a, b)
  local between, speed = a.from:minus(b.from), a.to:minus(a.from):minus(b.to:minus(b.from))
  local square, product = speed:dot(speed), between:dot(speed)
  local time = square > 0 and -product / square or 0
  if time < 0 then time = 0 elseif time > 1 then time = 1 end
  local nearest = between:plus(speed:times(time))
  return nearest:dot(nearest) <= RADIUS * RADIUS and time or nil
end

local PLANES = 100
local before, sum, found = {}, 0, 0
for plane = 1, PLANES do before[plane] = position(plane, 0) end
for step = 1, n do
  local grid, keys, motions = {}, {}, {}
  for plane = 1, PLANES do
    local now = position(plane, step * 0.5)
    local motion = { plane = plane, from = before[plane], to = now }
    motions[plane], before[plane] = motion, now
    cells(motion.from, motion.to, function(key)
      local list = grid[key]
      if not list then
        list = {}
        grid[key] = list
        keys[#keys + 1] = key
      end
      list[#list + 1] = motion
    end)
  end
  local seen = {}
  for _, key in ipairs(keys) do
    local list = grid[key]
    for i = 1, #list - 1 do
      for j = i + 1, #list do
        local pair = list[i].plane * PLANES + list[j].plane
        if not seen[pair] then
          seen[pair] = true
          local time = meeting(list[i], list[j])
          if time then
            found = found + 1
            sum = (sum * 3 + pair + math.floor(time * 100)) % 1000003
          end
        end
      end
    end
  end
end
sum = sum * 100000 + found
print("collide " .. n .. " " .. sum)
assert(n ~= 610 or sum == 5435502279)
