local function early(x)
  if x == 1 then return "one" end
  do
    if x == 2 then do return "two" end end
  end
  while x == 3 do return "three" end
  for i = 1, 3 do if i == x - 3 then return "for " .. i end end
  for k, v in pairs({ a = 1 }) do if x == 7 then return k end end
  repeat if x == 8 then return "repeat" end until true
  do return end
end
for x = 1, 9 do io.write(tostring((early(x))), " ") end
print()
print((function() return end)(), select("#", (function() return end)()), select("#", (function() return nil end)()))
local function multiple(flag) if flag then return 1, 2 else return 3 end end
print(multiple(true), multiple(false), (multiple(true)))
local function nothing() do end end
print(select("#", nothing()))
do local x = 1 do local x = 2 do local x = 3 print(x) end print(x) end print(x) end
do return print("chunks return") end
