-- A metamethod that is a coroutine takes the metatable of the table that is set, and the collector frees the shape that the table had.
-- There are many shapes, since few are kept.
local kept = {}
for i = 1, 4500 do
  local t = {}
  t['k' .. i % 113 .. '_' .. i] = 1
  kept[i] = t
end
local function set(t, v) t.field = v end
local n = 0
for round = 1, 10 do
  local own = setmetatable({ ['only' .. round] = 1 }, {
    __newindex = coroutine.wrap(function(t, k, v)
      while true do
        setmetatable(t, nil)
        collectgarbage() collectgarbage()
        n = n + 1
        t, k, v = coroutine.yield()
      end
    end) })
  set(own, round)
end
print(n)
