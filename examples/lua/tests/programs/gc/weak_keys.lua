local data = setmetatable({}, { __mode = "k" })
local a, b = {}, {}
data[a] = "of a"
data[b] = "of b"
data[{}] = "of nothing"
data["text"] = {}
data[5] = {}
collectgarbage()
local n = 0
for _ in pairs(data) do n = n + 1 end
print(n, data[a], data[b], type(data.text), type(data[5]))
b = nil
collectgarbage()
n = 0
for _ in pairs(data) do n = n + 1 end
print(n)
local both = setmetatable({}, { __mode = "kv" })
both[a] = {} both[{}] = a both[1] = a both.x = {}
collectgarbage()
n = 0
for k, v in pairs(both) do n = n + 1 end
print(n, both[1] == a)
