-- A loop that runs once, yet for long: code must be replaced while it runs.
local t, s, flag = { 0 }, 0, false
for i = 1, 200000 do
  if i % 50000 == 0 then flag = not flag end
  if flag then s = s + i else s = s - 1 end
  t[1] = t[1] + 1
end
print(s, t[1])
local a, b, n = 0, 1, 0
while n < 100000 do
  a, b = b, (a + b) % 1000003
  n = n + 1
end
print(a, b)
local text = ""
for i = 1, 60000 do
  text = i % 100 == 0 and "" or text
  if i > 59900 then text = text .. "x" end
end
print(#text)
local i = 0
repeat
  local captured = i
  local f = function() return captured + 1 end
  i = f()
until i >= 60000
print(i)
do
  local x, y = 1, "text"
  for k = 1, 60000 do
    x, y = y, x
  end
  print(x, y)
end
local done
for k = 1, 60000 do
  for j = 1, 2 do if k == 59999 and j == 2 then done = k * j break end end
  if done then break end
end
print(done)
