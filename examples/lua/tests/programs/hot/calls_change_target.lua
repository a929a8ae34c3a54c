local function call(f, x) return f(x) end
local function a(x) return x + 1 end
local function b(x) return x * 2 end
local s = 0
for i = 1, 20000 do s = s + call(a, i) end
for i = 1, 20000 do s = s + call(i % 2 == 0 and a or b, i) end
print(s)
print(call(tostring, 5), call(type, nil), call(setmetatable({}, { __call = function(_, x) return x, "called" end }), 7))
print(pcall(call, nil, 1))
print(pcall(call, "x", 1))
print(call(function(...) return select("#", ...), ... end, "v"))
local object = { n = 0 }
function object:add(k) self.n = self.n + k return self end
for i = 1, 20000 do object:add(1) end
print(object.n)
function object:add(k) self.n = self.n - k return self end
for i = 1, 20000 do object:add(1) end
print(object.n)
object.add = nil
print(pcall(function() object:add(1) end))
local makers = {}
for i = 1, 5 do makers[i] = function(x) return x + i end end
s = 0
for i = 1, 20000 do s = s + call(makers[i % 5 + 1], i) end
print(s)
