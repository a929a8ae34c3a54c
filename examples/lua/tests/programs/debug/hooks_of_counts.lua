local count = 0
debug.sethook(function(event) count = count + 1 if event ~= "count" then print("wrong", event) end end, "", 1000)
local n = 0
for i = 1, 100000 do n = n + i end
local f, mask, every = debug.gethook()
debug.sethook()
print(count > 50, n, type(f), mask, every)
print(debug.gethook())
-- A hook may end a program that runs forever.
debug.sethook(function() error("too long", 0) end, "", 10000)
local ok, message = pcall(function() while true do end end)
debug.sethook()
print(ok, message)
ok, message = pcall(function() debug.sethook(function() error("stopped", 0) end, "", 100) local function f() return f() end f() end)
debug.sethook()
print(ok, message)
