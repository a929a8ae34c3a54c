-- Balls that bounce in a box: small objects with many reads and writes of fields.
-- longer: 4000
local n = tonumber(arg[1]) or 590

local Random = {}
Random.__index = Random

function Random:next()
  self.seed = (self.seed * 1309 + 13849) % 65536
  return self.seed
end

local Ball = {}
Ball.__index = Ball

function Ball.new(random)
  return setmetatable({
    x = random:next() % 500, y = random:next() % 500,
    vx = random:next() % 300 - 150, vy = random:next() % 300 - 150,
  }, Ball)
end

function Ball:bounce()
  local bounced = false
  self.x = self.x + self.vx
  self.y = self.y + self.vy
  if self.x > 500 then
    self.x, self.vx = 500, -math.abs(self.vx)
    bounced = true
  end
  if self.x < 0 then
    self.x, self.vx = 0, math.abs(self.vx)
    bounced = true
  end
  if self.y > 500 then
    self.y, self.vy = 500, -math.abs(self.vy)
    bounced = true
  end
  if self.y < 0 then
    self.y, self.vy = 0, math.abs(self.vy)
    bounced = true
  end
  return bounced
end

local sum = 0
for _ = 1, n do
  local random = setmetatable({ seed = 74755 % 65536 }, Random)
  local balls = {}
  for i = 1, 100 do balls[i] = Ball.new(random) end
  for _ = 1, 50 do
    for _, ball in ipairs(balls) do
      if ball:bounce() then sum = sum + 1 end
    end
  end
end
print("bounce " .. n .. " " .. sum)
assert(n ~= 590 or sum == 785290)
