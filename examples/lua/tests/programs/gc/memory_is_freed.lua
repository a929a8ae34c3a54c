local function allocate() local t = {} for i = 1, 1000 do t[i] = { i, tostring(i) } end return t end
collectgarbage() collectgarbage()
local before = collectgarbage("count")
for _ = 1, 20 do allocate() end
collectgarbage() collectgarbage()
local after = collectgarbage("count")
print(after < before + 200)
local held = allocate()
print(collectgarbage("count") > after)
held = nil
collectgarbage() collectgarbage()
print(collectgarbage("count") < before + 200)
-- The collector runs by itself.
local peak = 0
for i = 1, 200000 do
  local garbage = { i, {} }
  if i % 1000 == 0 then peak = math.max(peak, collectgarbage("count")) end
end
print(peak < before + 20000)
