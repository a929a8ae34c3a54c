local function counter(from)
  local n = from or 0
  return function() n = n + 1 return n end, function() return n end, function(v) n = v end
end
local next1, get1, set1 = counter()
local next2, get2 = counter(100)
print(next1(), next1(), next1(), next2(), get1(), get2())
set1(50)
print(next1(), get1(), get2())
local list = {}
for i = 1, 5 do list[i] = counter(i * 10) end
for _, f in ipairs(list) do io.write(f(), " ") f() end
print(list[1](), list[5]())
