-- The value of a key is nil, and is not again while the collector marks: the key stays, also if nobody else has it any more, and what is
-- marked later is where it was.
local function set(t, k, v) t[k] = v end
for i = 1, 100 do local t, k = {}, {} set(t, k, 1) set(t, k, nil) set(t, k, 2) end
local n = 30
local function many() local m = {} for i = 1, 1000 do m[i] = {i} end return m end
local function lost(first, second, value)
  local count = 0
  for steps = 0, 90, 6 do
    local watch = setmetatable({}, {__mode = "v"})
    local places = {{}, many(), {}, many(), {}}
    places[first].t, places[second].list = {[true] = 1}, {}
    for i = 1, n do
      local k = {id = i}
      watch[i] = k
      places[second].list[i] = {x = k}
      set(places[first].t, k, value)
    end
    for i = 1, n do set(places[first].t, places[second].list[i].x, nil) end
    collectgarbage()
    for s = 1, steps do collectgarbage("step", 0) end
    for i = 1, n do
      local h = places[second].list[i]
      local k = h.x
      h.x = nil
      set(places[first].t, k, value)
    end
    repeat until collectgarbage("step", 0)
    for i = 1, n do if watch[i] == nil then count = count + 1 end end
  end
  return count
end
for _, value in ipairs({1, true, "text"}) do print(lost(5, 1, value), lost(1, 5, value)) end
