local function show(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = ("%.10f"):format((select(i, ...))) end
  print(table.concat(parts, " "))
end
for _, x in ipairs({ 0, 0.5, 1, -1, math.pi / 2, math.pi }) do show(math.sin(x), math.cos(x), math.tan(x / 3)) end
for _, x in ipairs({ 0, 0.5, 1, -1 }) do show(math.asin(x), math.acos(x), math.atan(x)) end
show(math.atan2(1, 1), math.atan2(-1, 1), math.atan2(1, -1), math.atan2(-1, -1), math.atan2(0, 1), math.atan2(1, 0))
show(math.sinh(1), math.cosh(1), math.tanh(1))
show(math.rad(180), math.deg(math.pi), math.rad(90), math.deg(1))
show(math.pi)
print(math.pi, math.asin(2) ~= math.asin(2))
print(pcall(math.sin))
print(pcall(math.atan2, 1))
