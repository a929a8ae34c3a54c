local texts = { "0", "1", "-1", "+1", " 12 ", "\t\n12\r\v\f", "1.5", ".5", "5.", "-.5e1", "1e5", "1E+5", "1e-5", "0x10",
  "0xA", "0Xf", "-0x10", "", " ", ".", "e5", "1e", "1e+", "1 2", "1a", "0x", "0xg", "--1", "1..2", "12e3.5", "1_000",
  "1,5", "0b1", "- 1", "+-1", "1\0", "\0", "00012", "1e400", "-1e400", "1e-400" }
for i = 1, #texts do
  print(string.format("%q", texts[i]), tonumber(texts[i]))
end
print(tonumber(5), tonumber(1.5), tonumber(nil), tonumber(true), tonumber({}), tonumber(print))
print(pcall(tonumber))
print(select("#", tonumber("x")))
