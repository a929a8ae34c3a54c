-- C's `print` writes a text up to its first zero; `io.write` writes all of it.
print("embedded\0zero")
print("a\0b", "c\0d", 1)
io.write("embedded\0zero\n")
print(#"embedded\0zero")
