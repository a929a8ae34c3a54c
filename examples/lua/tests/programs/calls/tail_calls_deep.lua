local function loop(n, acc) if n == 0 then return acc end return loop(n - 1, acc + n) end
print(loop(100000, 0))
local ping, pong
function ping(n) if n == 0 then return "ping" end return pong(n - 1) end
function pong(n) if n == 0 then return "pong" end return ping(n - 1) end
print(ping(200001), ping(200000))
local object = { n = 0 }
function object:step(k) if k == 0 then return self.n end self.n = self.n + 1 return self:step(k - 1) end
print(object:step(100000))
local t = setmetatable({}, { __call = function(self, n) if n == 0 then return "called" end return self(n - 1) end })
print(t(10000))
local function state(name, ...) if name == "stop" then return ... end return state(...) end
print(state("a", "b", "c", "stop", 1, 2, 3))
local function varargs(n, ...) if n == 0 then return select("#", ...) end return varargs(n - 1, ...) end
print(varargs(100000, nil, nil, nil))
