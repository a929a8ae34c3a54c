local function classify(x)
  if x == nil then return "nil"
  elseif x == false then return "false"
  elseif type(x) == "number" and x < 0 then return "negative"
  elseif type(x) == "number" and x == 0 then return "zero"
  elseif x then return "truthy"
  else return "never" end
end
print(classify(nil), classify(false), classify(-1), classify(0), classify(5), classify(""))
local function logic(a, b, c)
  if a and b or c then return 1 end
  if not a and (b or not c) then return 2 end
  if not (a or b) then return 3 end
  return 4
end
for i = 0, 7 do io.write(logic(i % 2 == 1, i % 4 > 1, i > 3), " ") end
print()
if true then end
if nil then else print("else") end
if false then elseif false then else print("last") end
local i = 0
while i < 10 and not (i == 5) do i = i + 1 end
print(i)
repeat local done = i >= 8 i = i + 1 until done
print(i)
while true do i = i + 1 if i > 20 then break end end
print(i)
repeat break until error("never")
while nil do end
