local saved
for i = 1, 10 do
  local v = i * i
  saved = function() v = v + 1 return v end
  if v > 20 then break end
end
print(saved(), saved())
local list = {}
for i = 1, 3 do
  for j = 1, 3 do
    local p = i * 10 + j
    if j == 2 then break end
    list[#list + 1] = function() p = p + 100 return p end
  end
end
print(list[1](), list[2](), list[3](), list[1]())
local function returns_from_loop()
  for i = 1, 5 do
    local x = i
    if i == 3 then return function() x = x + 1 return x end end
  end
end
local r = returns_from_loop()
print(r(), r())
do
  local hidden = "block"
  function reads_block() return hidden end
end
print(reads_block(), hidden)
