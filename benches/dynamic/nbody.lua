local sqrt = math.sqrt

local function advance(bodies, count, dt)
  for i = 1, count do
    local bi = bodies[i]
    local bix, biy, biz, bimass = bi.x, bi.y, bi.z, bi.mass
    local bivx, bivy, bivz = bi.vx, bi.vy, bi.vz
    for j = i + 1, count do
      local bj = bodies[j]
      local dx, dy, dz = bix - bj.x, biy - bj.y, biz - bj.z
      local dist2 = dx * dx + dy * dy + dz * dz
      local mag = sqrt(dist2)
      mag = dt / (mag * dist2)
      local bm = bj.mass * mag
      bivx = bivx - dx * bm
      bivy = bivy - dy * bm
      bivz = bivz - dz * bm
      bm = bimass * mag
      bj.vx = bj.vx + dx * bm
      bj.vy = bj.vy + dy * bm
      bj.vz = bj.vz + dz * bm
    end
    bi.vx = bivx
    bi.vy = bivy
    bi.vz = bivz
    bi.x = bix + dt * bivx
    bi.y = biy + dt * bivy
    bi.z = biz + dt * bivz
  end
end

function run(n)
  local bodies = {}
  for i = 1, 5 do
    local body = {}
    body.x = i * 1.5
    body.y = i * i
    body.z = 7 - i
    body.vx = i * 0.25
    body.vy = 1 - i
    body.vz = 0.125
    body.mass = 10 / i
    bodies[i] = body
  end
  for i = 1, n do
    advance(bodies, 5, 0.001)
  end
  return bodies[1].x + bodies[5].vz
end
