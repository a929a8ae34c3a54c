local made = 0
local function weak_memoize(f, mode)
  local cache = setmetatable({}, { __mode = mode })
  return function(x) local r = cache[x] if r == nil then r = f(x) cache[x] = r end return r end, cache
end
local object, cache = weak_memoize(function(n) made = made + 1 return { n = n } end, "v")
local kept = object(1)
object(2) object(3)
print(made, object(1) == kept)
collectgarbage()
print(object(1) == kept, made, cache[2], cache[3])
object(2)
print(made)
local names = setmetatable({}, { __mode = "k" })
local key = {}
names[key] = "kept"
for i = 1, 100 do names[{}] = i end
collectgarbage()
local n = 0
for _ in pairs(names) do n = n + 1 end
print(n, names[key])
local changed = {}
for i = 1, 10 do changed[i] = {} end
setmetatable(changed, { __mode = "v" })
collectgarbage()
n = 0
for _ in pairs(changed) do n = n + 1 end
print(n)
getmetatable(changed).__mode = nil
changed[1] = {}
setmetatable(changed, {})
collectgarbage()
print(type(changed[1]))
