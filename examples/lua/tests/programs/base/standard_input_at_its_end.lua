print(io.read())
print(io.read("*a"))
print(io.read("*n"), io.read(5), io.read(0), io.read("*l"))
for line in io.lines() do print("never", line) end
print(io.stdin:read("*a"), io.stdin:read())
print(io.type(io.stdin))
