local function three() return 1, 2, 3 end
local function none() end
print(three() + 10, 10 + three(), -three(), three() .. "x", three() == 1)
print(three() and "yes", none() or "default", not none(), #{ three(), three() })
local t = { three(), x = three(), three() }
print(#t, t.x, t[3])
t[three()] = three()
print(t[1])
if none() then print("never") else print("nothing is false") end
while three() do print("once") break end
for i = three(), 2 do io.write(i, " ") end print()
print(math.max(three()), select("#", three(), none()), select("#", none(), three()))
print(pcall(three))
return three()
