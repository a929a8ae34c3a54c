-- C formats a short text up to its first zero, and copies a long one whole.
print(#("%s"):format("with\0zero"), #("%5s"):format("a\0b"), #("%s|"):format("\0"))
print(#("%s"):format(("x"):rep(100) .. "\0" .. ("y"):rep(20)))
print(#("%q"):format("a\0b"), #("%c%c"):format(0, 65))
print(("%s"):format("plain"))
