local meta = { __eq = function() return true end }
local a, b = setmetatable({}, meta), setmetatable({}, meta)
print(a == b, rawequal(a, b), rawequal(a, a))
print(rawequal(1, 1), rawequal(1, "1"), rawequal("x", "x"), rawequal(nil, nil), rawequal(nil, false))
print(rawequal(0, -0), rawequal(0 / 0, 0 / 0))
print(rawequal(print, print), rawequal({}, {}))
print(pcall(rawequal))
print(pcall(rawequal, 1))
print(rawlen)
