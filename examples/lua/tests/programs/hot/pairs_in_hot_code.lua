local t = {}
for i = 1, 100 do t["k" .. i] = i end
for i = 1, 100 do t[i] = i end
local sum = 0
for round = 1, 100 do for k, v in pairs(t) do sum = sum + v end end
print(sum)
local function count(x) local n = 0 for _ in pairs(x) do n = n + 1 end return n end
print(count(t), count({}), count({ 1, 2, nil, 4 }), count({ nil }))
sum = 0
for round = 1, 100 do for i, v in ipairs(t) do sum = sum + i * v end end
print(sum)
local original = next
local calls = 0
next = function(...) calls = calls + 1 return original(...) end
for k, v in next, { 1, 2, 3 } do end
next = original
print(calls)
local removed = 0
for round = 1, 50 do
  local u = {}
  for i = 1, 50 do u["x" .. i] = i end
  for k, v in pairs(u) do if v % 2 == 0 then u[k] = nil removed = removed + 1 end end
  removed = removed + count(u)
end
print(removed)
local function custom(n) local i = 0 return function() i = i + 1 if i <= n then return i, i * i end end end
sum = 0
for round = 1, 100 do for i, sq in custom(100) do sum = sum + sq - i end end
print(sum)
