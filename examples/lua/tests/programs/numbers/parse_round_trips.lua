local same = true
local x = 0.1
for i = 1, 200 do
  x = (x * 1103515245 + 12345) % 1e9 / 7
  local text = ("%.17g"):format(x)
  if tonumber(text) ~= x then same = false print("differs", text) end
end
print(same)
for _, text in ipairs({ "1e308", "1.7976931348623158e308", "1e309", "2.2250738585072011e-308", "4.9406564584124654e-324",
  "2.4703282292062327e-324", "9007199254740993", "0.1", "123456789.123456789", "1e23", "8.5e22" }) do
  print(text, ("%.17g"):format(tonumber(text)))
end
