local function advance(bodies, dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local d2 = dx * dx + dy * dy + dz * dz
      local mag = dt / (d2 * math.sqrt(d2))
      a.vx, a.vy, a.vz = a.vx - dx * b.m * mag, a.vy - dy * b.m * mag, a.vz - dz * b.m * mag
      b.vx, b.vy, b.vz = b.vx + dx * a.m * mag, b.vy + dy * a.m * mag, b.vz + dz * a.m * mag
    end
  end
  for i = 1, n do
    local b = bodies[i]
    b.x, b.y, b.z = b.x + dt * b.vx, b.y + dt * b.vy, b.z + dt * b.vz
  end
end
local bodies = {
  { x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, m = 39.47 },
  { x = 4.84, y = -1.16, z = -0.1, vx = 0.6, vy = 2.8, vz = -0.02, m = 0.037 },
  { x = 8.34, y = 4.12, z = -0.4, vx = -1.01, vy = 1.8, vz = 0.008, m = 0.011 },
}
for i = 1, 2000 do advance(bodies, 0.01) end
for _, b in ipairs(bodies) do print(("%.9f %.9f %.9f"):format(b.x, b.y, b.z)) end
local function A(i, j) local ij = i + j - 1 return 1 / (ij * (ij - 1) * 0.5 + i) end
local function Av(x, y, n) for i = 1, n do local a = 0 for j = 1, n do a = a + x[j] * A(i, j) end y[i] = a end end
local function Atv(x, y, n) for i = 1, n do local a = 0 for j = 1, n do a = a + x[j] * A(j, i) end y[i] = a end end
local u, v, t = {}, {}, {}
for i = 1, 40 do u[i] = 1 end
for i = 1, 5 do Av(u, t, 40) Atv(t, v, 40) Av(v, t, 40) Atv(t, u, 40) end
local vBv, vv = 0, 0
for i = 1, 40 do vBv = vBv + u[i] * v[i] vv = vv + v[i] * v[i] end
print(("%.9f"):format(math.sqrt(vBv / vv)))
local function mandelbrot(n)
  local inside = 0
  for py = 0, n - 1 do
    for px = 0, n - 1 do
      local cr, ci, zr, zi, k = 2 * px / n - 1.5, 2 * py / n - 1, 0, 0, 0
      while k < 50 and zr * zr + zi * zi < 4 do zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci k = k + 1 end
      if k == 50 then inside = inside + 1 end
    end
  end
  return inside
end
print(mandelbrot(60))
