local t = { "one", "two", [10] = "ten", [1.5] = "fraction", [true] = "yes", [false] = "no", name = "field", [-1] = "minus" }
local lines = {}
for key, value in pairs(t) do lines[#lines + 1] = type(key) .. " " .. tostring(key) .. " " .. value end
table.sort(lines)
print(table.concat(lines, "\n"))
local f, state, first = pairs(t)
print(type(f), state == t, first)
print(pcall(pairs))
print(pcall(pairs, nil))
print(pcall(pairs, "text"))
-- Lua 5.1 has no `__pairs`.
local hidden = setmetatable({ 1 }, { __pairs = function() error("never called") end })
for key, value in pairs(hidden) do print(key, value) end
