local function rectangle_area(self)
  return self.width * self.height
end

local function circle_area(self)
  return 3 * self.radius * self.radius
end

local function grow(self, by)
  self.scale = self.scale + by
  return self.scale
end

function run(n)
  local objects = {}
  for i = 1, 100, 2 do
    local object = {}
    object.width = i
    object.height = 2
    object.scale = 1
    object.area = rectangle_area
    object.grow = grow
    objects[i] = object
    object = {}
    object.area = circle_area
    object.grow = grow
    object.radius = i
    object.scale = 2
    objects[i + 1] = object
  end
  local total = 0
  for round = 1, n do
    for i = 1, 100 do
      local object = objects[i]
      total = total + object:area() * object:grow(1)
    end
  end
  return total
end
