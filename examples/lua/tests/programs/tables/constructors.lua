local function three() return 1, 2, 3 end
local t = { three(), three() }
print(#t)
t = { three(), (three()) }
print(#t)
t = { three(), nil }
print(t[1], t[2])
t = { x = three(), three() }
print(t.x, #t)
t = { [1] = "explicit", "positional" }
print(t[1])
t = { 1, 2; 3, 4; x = 5, }
print(#t, t.x)
t = { ["key with blank"] = 1, [2 + 3] = "five", [true] = "yes", f = function() return "called" end }
print(t["key with blank"], t[5], t[true], t.f())
t = { { { "deep" } } }
print(t[1][1][1])
t = { "a", nil, "c" }
print(t[1], t[2], t[3])
print(({ 10, 20, 30 })[2], #{ n = nil }, ({ a = 1 }).a)
print(pcall(function() return { [nil] = 1 } end))
print(pcall(function() return { [0 / 0] = 1 } end))
