for _, a in ipairs({ 7, -7, 7.5, -7.5, 0 }) do
  for _, b in ipairs({ 3, -3, 2.5, -2.5 }) do io.write(("%g "):format(a % b)) end
  print()
end
print(5 % 5, -5 % 5, 1e15 % 7, -1e15 % 7, 2 ^ 53 % 3)
print(1 % 0 ~= 1 % 0, 0 % 0 ~= 0 % 0)
local a, b = 5, 0
print(a % b ~= a % b)
print(5.25 % 1, -5.25 % 1, 3 % 0.1 < 0.1)
print(1e300 % 7, 7 % 1e300)
print(-1 % 2 ^ 53)
local inf = 1 / 0
print(inf % 5 ~= inf % 5)
