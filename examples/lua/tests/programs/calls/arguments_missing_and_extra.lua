local function f(a, b, c) return a, b, c end
print(f()) print(f(1)) print(f(1, 2, 3, 4, 5)) print((f(1, 2)))
local function g() return select("#") end
print(g(1, 2, 3))
print(f(f(1, 2), f(3, 4)))
local function defaults(x, y) x = x or "dx" y = y == nil and "dy" or y return x, y end
print(defaults()) print(defaults(1, false)) print(defaults(nil, 2))
local function named(options) return options.name or "anonymous", options.size or 0 end
print(named { name = "n" }) print(named { size = 5 })
print(f "text", f { 1 } ~= nil, f [[long]])
print(type(f), pcall(f))
