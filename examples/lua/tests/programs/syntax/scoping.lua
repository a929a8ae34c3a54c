local x = 1
do
  local x = x + 1
  print(x)
  do local x = x * 10 print(x) end
  print(x)
end
print(x)
local y, y = 1, 2
print(y)
local function f(a, a) return a end
print(f(1, 2))
for x = 1, 1 do local x = "loop" print(x) end
if x == 1 then local x = "then" print(x) end
local z = z
print(z)
z = "global"
print(z, _G.z)
local function shadow() local print = tostring return print(5) end
print(shadow())
repeat local inside = true until inside
print(inside)
local a = 1 local b = a local a = 2
print(a, b)
function x_global() return x end
x = 5
print(x_global(), _G.x)
