local kept = {}
for i = 1, 50000 do
  local t = { i, { i } }
  if i % 5000 == 0 then kept[#kept + 1] = t end
end
for _, t in ipairs(kept) do io.write(t[1], "=", t[2][1], " ") end
print()
local strings = {}
for i = 1, 30000 do
  local s = "value " .. i
  if i % 3000 == 0 then strings[#strings + 1] = s end
end
print(table.concat(strings, ", "))
local closures = {}
for i = 1, 30000 do
  local f = function() return i end
  if i % 3000 == 0 then closures[#closures + 1] = f end
  if i % 10000 == 0 then collectgarbage() end
end
for _, f in ipairs(closures) do io.write(f(), " ") end
print()
local weak = setmetatable({}, { __mode = "k" })
for i = 1, 20000 do weak[{}] = i end
collectgarbage()
print(next(weak))
local function build(n) if n == 0 then return nil end return { n, build(n - 1) } end
local total = 0
for i = 1, 100 do local list = build(100) while list do total = total + list[1] list = list[2] end end
print(total)
collectgarbage("setpause", 100) collectgarbage("setstepmul", 1000)
local ring = {}
for i = 1, 30000 do ring[i % 50 + 1] = { previous = ring[(i - 1) % 50 + 1] and i - 1, data = { i } } end
print(ring[1].data[1], ring[50].data[1], ring[50].previous)
