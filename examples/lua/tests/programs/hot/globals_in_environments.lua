local source = [[
local total = 0
for i = 1, limit do
  total = total + scale(i)
  if i == half then scale = other end
end
result = total
return total
]]
local function environment(k)
  return { limit = 20000, half = 10000, scale = function(i) return i * k end, other = function(i) return -k end }
end
local chunk = assert(loadstring(source))
for k = 1, 3 do
  local env = environment(k)
  print(setfenv(chunk, env)(), env.result, env.scale(1))
end
print(result)
local function worker() local s = 0 for i = 1, 20000 do s = s + (value or 0) end return s end
value = 1
print(worker())
print(setfenv(worker, { value = 2 })())
print(setfenv(worker, setmetatable({}, { __index = function(_, k) return 3 end }))())
print(setfenv(worker, {})())
