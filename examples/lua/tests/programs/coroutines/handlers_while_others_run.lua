-- What handles the errors of who has resumed a coroutine stays, also if the collector has looked at the coroutine before it was resumed.
local function made(text)
  local words = { text }
  return function(message) return words[1] .. " " .. message end
end

local co = coroutine.wrap(function()
  while true do
    repeat until collectgarbage("step", 1)
    -- Memory that was freed is used again.
    local others = {}
    for i = 1, 200 do
      local word = { i }
      others[i] = function() return word end
    end
    coroutine.yield()
  end
end)

local some = {}
for i = 1, 3000 do some[i] = { i } end
co()

local right = 0
local function try(before)
  local holder = { { made("handled") } }
  collectgarbage()
  for _ = 1, before do collectgarbage("step", 1) end
  local function fails()
    co()
    error("x", 0)
  end
  return xpcall(fails, table.remove(holder[1]))
end
for before = 0, 150 do
  local ok, said = try(before)
  if not ok and said == "handled x" then right = right + 1 end
end
print(right)
