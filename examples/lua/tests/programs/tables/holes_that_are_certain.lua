-- Only lengths that every implementation must give.
local t = { 1, 2, 3 }
t[#t] = nil
print(#t)
t[#t + 1] = "x"
print(#t, t[3])
local function border(list) local n = #list return list[n] ~= nil and list[n + 1] == nil or n == 0 and list[1] == nil end
print(border({ 1, nil, 3 }), border({ nil, nil, 3 }), border({ n = 1 }), border({ [2] = 2 }), border({ 1, 2, nil, nil, 5 }))
local u = {}
for i = 1, 100 do u[i] = i end
for i = 2, 99 do u[i] = nil end
print(border(u), u[1], u[100], u[50])
for i = 1, 100 do u[i] = nil end
print(#u, border(u))
local args = { n = select("#", nil, nil, 3), nil, nil, 3 }
print(args.n, args[3], border(args))
for i = 1, args.n do io.write(tostring(args[i]), " ") end
print()
print(unpack(args, 1, args.n))
