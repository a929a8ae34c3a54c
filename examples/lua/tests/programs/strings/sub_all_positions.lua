local s = "abcdef"
for from = -8, 8, 2 do
  local row = {}
  for to = -8, 8, 2 do row[#row + 1] = "[" .. s:sub(from, to) .. "]" end
  print(from, table.concat(row))
end
print(s:sub(2), s:sub(-2), s:sub(0), s:sub(7), s:sub(100))
print((""):sub(1), (""):sub(-1, 5))
print(s:sub(2.7, 4.2), s:sub("2", "3"))
print(string.sub(12345, 2, 3))
print(s:sub(-2 ^ 31, 2 ^ 31 - 1))
print(pcall(string.sub))
print(pcall(string.sub, "x"))
print(pcall(string.sub, "x", {}))
