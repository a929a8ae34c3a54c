local live = {}
for round = 1, 50 do
  for i = 1, 200 do
    live[(i * round) % 97 + 1] = { round = round, i = i, text = "t" .. i .. ":" .. round, f = function() return i * round end }
  end
end
local sum, length = 0, 0
for i = 1, 97 do
  local o = live[i]
  sum = sum + o.f() - o.i * o.round
  length = length + #o.text
  if o.text ~= "t" .. o.i .. ":" .. o.round then print("damaged", i) end
end
print(sum, length > 0)
local list
for i = 1, 100000 do list = { next = list, value = i } if i % 1000 == 0 then list = nil end end
print(list)
for i = 1, 1000 do list = { next = list, value = i } end
local n = 0
while list do n = n + list.value list = list.next end
print(n)
