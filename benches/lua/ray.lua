-- A tracer of rays: spheres above a floor of tiles, with shadows and reflections.
-- longer: 590
local n = tonumber(arg[1]) or 250

local sqrt = math.sqrt

local function vector(x, y, z) return { x = x, y = y, z = z } end
local function plus(a, b) return vector(a.x + b.x, a.y + b.y, a.z + b.z) end
local function minus(a, b) return vector(a.x - b.x, a.y - b.y, a.z - b.z) end
local function times(a, by) return vector(a.x * by, a.y * by, a.z * by) end
local function dot(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end
local function unit(a) return times(a, 1 / sqrt(dot(a, a))) end

local Sphere = {}
Sphere.__index = Sphere

function Sphere:distance(from, direction)
  local to = minus(self.center, from)
  local along = dot(to, direction)
  local square = self.radius * self.radius - dot(to, to) + along * along
  if square < 0 then return nil end
  local root = sqrt(square)
  local near = along - root
  if near > 1e-4 then return near end
  local far = along + root
  return far > 1e-4 and far or nil
end

function Sphere:normal(at) return unit(minus(at, self.center)) end
function Sphere:color() return self.shade end

local Floor = {}
Floor.__index = Floor

function Floor:distance(from, direction)
  if direction.y > -1e-6 then return nil end
  local far = (self.height - from.y) / direction.y
  return far > 1e-4 and far or nil
end

function Floor:normal() return vector(0, 1, 0) end
function Floor:color(at) return (math.floor(at.x) + math.floor(at.z)) % 2 == 0 and 0.9 or 0.2 end

local scene, light = { setmetatable({ height = 0, mirror = 0.2 }, Floor) }, vector(5, 10, -5)
for i = 1, 6 do
  local center = vector(i % 3 * 2 - 2, 0.6 + i % 2 * 0.5, i * 1.2)
  scene[i + 1] = setmetatable({ center = center, radius = 0.5 + i % 3 / 5, shade = 0.3 + i / 10, mirror = i % 2 / 2 }, Sphere)
end

local function nearest(from, direction)
  local best, least = nil, math.huge
  for _, thing in ipairs(scene) do
    local distance = thing:distance(from, direction)
    if distance and distance < least then best, least = thing, distance end
  end
  return best, least
end

local function trace(from, direction, depth)
  local thing, distance = nearest(from, direction)
  if not thing then return 0.1 end
  local at = plus(from, times(direction, distance))
  local normal, to_light = thing:normal(at), unit(minus(light, at))
  local shade = 0.1
  if not nearest(at, to_light) then shade = shade + 0.9 * math.max(0, dot(normal, to_light)) end
  shade = shade * thing:color(at)
  if depth > 0 and thing.mirror > 0 then
    local reflected = minus(direction, times(normal, 2 * dot(direction, normal)))
    shade = shade * (1 - thing.mirror) + thing.mirror * trace(at, unit(reflected), depth - 1)
  end
  return shade
end

local eye, total = vector(0, 1.5, -6), 0
for y = 1, n do
  for x = 1, n do
    local direction = unit(vector((x - n / 2) / n, (n / 2 - y) / n, 1))
    total = total + trace(eye, direction, 3) * (1 + (x + y) % 3)
  end
end
local sum = string.format("%.6f", total)
print("ray " .. n .. " " .. sum)
assert(n ~= 250 or sum == "27939.181274")
