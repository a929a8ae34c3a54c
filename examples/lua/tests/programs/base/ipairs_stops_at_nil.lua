for i, value in ipairs({ 1, 2, nil, 4 }) do io.write(i, "=", value, " ") end
print()
for i in ipairs({}) do print("never", i) end
for i, value in ipairs({ "a", "b", x = 1, [0] = "zero" }) do io.write(i, value, " ") end
print()
local t = { 1, 2, 3 }
for i, value in ipairs(t) do
  if i <= 5 then t[#t + 1] = value * 10 end
end
print(table.concat(t, " "))
local f, state, first = ipairs(t)
print(type(f), state == t, first)
print(f(t, 0), f(t, 1))
print(select("#", f(t, 100)))
print(pcall(ipairs))
print(pcall(ipairs, 5))
-- `ipairs` reads without metamethods in Lua 5.1.
local proxy = setmetatable({}, { __index = function(_, i) if i < 4 then return i end end })
for i, value in ipairs(proxy) do print("never", i, value) end
print("end")
