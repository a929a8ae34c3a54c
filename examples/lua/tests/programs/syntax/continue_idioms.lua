-- There is no `continue`: programs use a loop that runs once, or a nested condition.
for i = 1, 10 do
  repeat
    if i % 2 == 0 then break end
    if i == 5 then break end
    io.write(i, " ")
  until true
end
print()
local i = 0
while i < 10 do
  i = i + 1
  local skip = i % 3 ~= 0
  if not skip then io.write(i, " ") end
end
print()
local function first(list, p)
  for i, v in ipairs(list) do if p(v) then return v, i end end
end
print(first({ 1, 5, 8, 9 }, function(v) return v % 2 == 0 end), first({}, print))
local found
for x = 1, 5 do
  for y = 1, 5 do
    if x * y == 12 then found = x .. "*" .. y break end
  end
  if found then break end
end
print(found)
for _, v in ipairs({ 1, 2, 3 }) do while true do if v == 2 then break end io.write(v, " ") break end end
print()
