local cache = setmetatable({}, { __mode = "v" })
local keep = {}
cache.kept = keep
cache.lost = {}
cache[1] = {}
cache.text = "text " .. 1
cache.number = 5
cache.f = function() return keep end
cache.co = coroutine.create(function() end)
collectgarbage()
print(cache.kept == keep, cache.lost, cache[1], cache.text, cache.number, cache.f, cache.co)
keep = nil
collectgarbage()
print(cache.kept)
local count = 0
for _ in pairs(cache) do count = count + 1 end
print(count)
