print(3, 3.0, 3.1416, 314.16e-2, 0.31416E1, 0xff, 0x56, 0XAB)
print(.5, 5., 5.e1, .5e-1, 1e+2, 1E-2)
print(0x7fffffff, 0xffffffff, 0x100000000, 0xfffffffffffff)
print(00012, 1e0, 0e5, 0x0)
print(1 ..2, 1 .. 2, 1 .. "")
print(9007199254740993, 123456789012345678901234567890)
print(1e308 * 10, 1e-320, 4.9e-324, 1e-325)
print(- -1, - - -1, -(-(2)))
for _, text in ipairs({ "3x", "0xg", "1e", "1e+", "1.2.3", "0x", "1..2", "3_", ".5.5", "0xep1", "1e5e" }) do
  print(text, (select(2, loadstring("return " .. text, "=c"))))
end
