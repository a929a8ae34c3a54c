for _, x in ipairs({ 0, 1, 0.5, 3, -3, 1024, 1e300, 1e-300, 2 ^ 52 + 1 }) do
  local m, e = math.frexp(x)
  print(x, m, e, math.ldexp(m, e) == x)
end
print(math.ldexp(1, 10), math.ldexp(0.5, 1), math.ldexp(1, -1074) > 0, math.ldexp(1, 2000))
print(math.ldexp(1, 3.9))
print(pcall(math.frexp))
print(pcall(math.ldexp, 1))
