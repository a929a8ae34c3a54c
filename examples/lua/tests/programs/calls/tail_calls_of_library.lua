local function a(...) return print(...) end
a(1, 2)
local function b(...) return pcall(error, ...) end
print(b("text"))
local function c(t) return unpack(t) end
print(c({ 1, 2, 3 }))
local function d(f, ...) return f(...) end
print(d(math.max, 1, 5, 3), d(string.rep, "ab", 2), d(d, d, d, math.min, 4, 2))
local function e() return tostring() end
print(pcall(e))
local function f() return (error("not a tail call", 2)) end
print(pcall(f))
local function g() return error("tail", 1) end
print(pcall(g))
local function h() return error("tail", 2) end
print(pcall(h))
