local function fill(n) local t = {} for i = 1, n do t[i] = i * 2 end return t end
for _, n in ipairs({ 0, 1, 2, 3, 4, 7, 8, 9, 100, 5000 }) do
  local t = fill(n)
  io.write(#t, ":", tostring(t[n]), " ")
end
print()
local function append(t, v) t[#t + 1] = v end
local t = {}
for i = 1, 20000 do append(t, i) end
print(#t, t[20000])
for i = 1, 19990 do t[#t] = nil end
print(#t)
for i = 1, 100 do append(t, "s" .. i) end
print(#t, t[11], t[110])
local stack, top = {}, 0
for i = 1, 50000 do
  if i % 3 ~= 0 then top = top + 1 stack[top] = i else stack[top] = nil top = top - 1 end
end
print(top, #stack, stack[top])
local grid = {}
for y = 1, 60 do grid[y] = {} for x = 1, 60 do grid[y][x] = (x * y) % 3 end end
local s = 0
for round = 1, 10 do
  for y = 2, 59 do
    local row, up, down = grid[y], grid[y - 1], grid[y + 1]
    for x = 2, 59 do s = s + row[x] * (up[x] + down[x] + row[x - 1] + row[x + 1]) end
  end
end
print(s)
local q, first, last = {}, 1, 0
for i = 1, 30000 do
  last = last + 1 q[last] = i
  if i % 2 == 0 then q[first] = nil first = first + 1 end
end
print(last - first + 1, q[first], q[last])
