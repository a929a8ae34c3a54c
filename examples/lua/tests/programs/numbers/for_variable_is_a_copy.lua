for i = 1, 3 do
  io.write(i, " ")
  i = i * 10
  io.write(i, "; ")
end
print()
local limit = 3
for i = 1, limit do limit = 100 io.write(i, " ") end
print(limit)
local calls = 0
local function once(value) calls = calls + 1 return value end
for i = once(1), once(3), once(1) do end
print(calls)
local i = "outer"
for i = 1, 2 do local i = i + 10 io.write(i, " ") end
print(i)
for i = 1, 3 do for j = i, 3 do if j == 2 then break end io.write(i, j, " ") end end
print()
