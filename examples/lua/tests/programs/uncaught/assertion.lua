assert(1 == 1, "not this")
assert(1 == 2, "assertion text")
