for _, format in ipairs({ "%", "%y", "%1", "%-", "%ll", "%123d", "%.123d", "%--------d", "%0000005d", "%b", "%p", "%a5", "%5", "% ", "%.", "%h" }) do
  print(format, pcall(string.format, format, 10))
end
print(pcall(string.format))
print(pcall(string.format, {}))
print(pcall(string.format, "%d %d", 1))
print(pcall(string.format, "%s %d", "a", "b"))
print(string.format("no formats", 1, 2, 3))
print(string.format(12))
print(pcall(string.format, "%*d", 3, 4))
