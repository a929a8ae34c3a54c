for base = 2, 36 do
  local digits = "10"
  io.write(tonumber(digits, base), " ")
end
print()
print(tonumber("ff", 16), tonumber("FF", 16), tonumber("fF", 16))
print(tonumber("zz", 36), tonumber("Zz", 36))
print(tonumber("777", 8), tonumber("8", 8))
print(tonumber("1010", 2), tonumber("102", 2))
print(tonumber("  11  ", 2), tonumber("1 1", 2), tonumber("", 2), tonumber(" ", 2))
print(tonumber(10, 16), tonumber(10, 10))
print(tonumber("7fffffff", 16), tonumber("ffffffff", 16))
print(tonumber("1e1", 16), tonumber("1e1", 10))
print(pcall(tonumber, "1", 1))
print(pcall(tonumber, "1", 37))
print(pcall(tonumber, "1", 0))
print(pcall(tonumber, {}, 10))
print(pcall(tonumber, {}, 16))
print(pcall(tonumber, nil, 16))
