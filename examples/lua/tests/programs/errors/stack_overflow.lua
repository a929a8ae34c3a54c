-- Endless recursion through calls of every kind: the line that is named, the handler, the traceback, and what goes on afterwards.
local function endless(n) local x = endless(n + 1) return x + 1 end
for _ = 1, 3 do print(pcall(endless, 1)) end
print(select("#", pcall(endless, 1)))

local function no_argument()
  return no_argument() + 1
end
print(pcall(no_argument))

print(xpcall(function() endless(1) end, debug.traceback))

local Class = setmetatable({}, { __call = function(_, ...) local o = {} endless(1) return o end })
print(pcall(Class, 1))

local computed = setmetatable({}, { __index = function(_, k) return endless(1) end })
print(pcall(function() return computed.x end))

local Object = {}
Object.__index = Object
function Object:init(n)
  self.super.init(self, n)
  self.n = n
end
Object.super = Object
print(pcall(function() local o = setmetatable({}, Object) o:init(2) end))

-- In a coroutine, whose stack is its own.
local coroutine_of = coroutine.create(function() endless(1) end)
print(coroutine.resume(coroutine_of))
print(#debug.traceback(coroutine_of) > 100, (debug.traceback(coroutine_of):gsub("\n.*", "")))
print(coroutine.status(coroutine_of))

-- Handlers that do some work, and such as fail.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function run() endless(1) end
print(xpcall(run, function(m) local t = {} for i = 1, 10 do t[i] = i end return m .. table.concat(t) end))
print(xpcall(run, function(m) return deep(10) .. m end))
print(xpcall(run, function(m) return endless(1) end))
print(xpcall(run, function(m) error(m, 0) end))
print(xpcall(run, function(m) return select(2, pcall(error, "other")) .. m end))

-- Values in frames that were unwound are whole, and so is what was built on the way.
local visited = {}
local function visit(t, depth)
  visited[#visited + 1] = depth
  for _, child in ipairs(t) do visit(child, depth + 1) end
  return depth
end
local ring = {}
ring[1] = ring
print(pcall(visit, ring, 1))
local whole = true
for i, depth in ipairs(visited) do whole = whole and i == depth end
print(whole, #visited > 1000)
collectgarbage()
print(deep(1000))
