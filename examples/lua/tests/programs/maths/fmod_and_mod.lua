local values = { 5, -5, 5.5, -5.5, 3, -3, 0.1 }
for _, a in ipairs(values) do
  for _, b in ipairs({ 3, -3, 2.5, 1 }) do
    print(a, b, ("%.10g %.10g"):format(math.fmod(a, b), a % b))
  end
end
print(math.mod(7, 3), math.mod == math.fmod or "other")
print(math.fmod(1, 1 / 0), math.fmod(0, 5), 5 % (1 / 0) ~= 5 % (1 / 0))
print(pcall(math.fmod, 1))
print(pcall(math.fmod, "x", 1))
