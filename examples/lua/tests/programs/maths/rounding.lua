for _, x in ipairs({ 0, 0.5, 1.5, -0.5, -1.5, 2.999, -2.001, 1e15 + 0.5, 1e300, -1e300 }) do
  print(x, math.floor(x), math.ceil(x), (math.modf(x)), select(2, math.modf(x)))
end
print(math.floor(1 / 0), math.ceil(-1 / 0), math.modf(1 / 0))
print(math.floor("3.7"), math.ceil("3.2"))
print(math.floor(2 ^ 53), math.floor(-2 ^ 53 + 0.5))
print(pcall(math.floor))
print(pcall(math.floor, "x"))
print(pcall(math.ceil, {}))
print(pcall(math.modf, nil))
