local function producer(n) return coroutine.create(function() for i = 1, n do coroutine.yield("item " .. i) end return nil end) end
local function filter(source)
  return coroutine.create(function()
    local line = 1
    while true do
      local ok, item = coroutine.resume(source)
      if not ok or not item then return nil end
      coroutine.yield(("%02d %s"):format(line, item))
      line = line + 1
    end
  end)
end
local function consume(source)
  while true do
    local ok, item = coroutine.resume(source)
    if not ok or not item then break end
    print(item)
  end
end
consume(filter(producer(4)))
consume(filter(filter(producer(2))))
