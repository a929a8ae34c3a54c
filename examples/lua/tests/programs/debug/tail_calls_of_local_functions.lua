-- A function that a local variable always is: whoever calls it knows whether it has ended in a tail call.
local function inner() return (debug.traceback("in a tail call")) end
local function outer() return inner() end
print((outer()))
local function direct() local x = inner() return x end
print((direct()))
local function what(level) local info = debug.getinfo(level + 1, "Snlu") if not info then return "none" end return info.what .. " " .. tostring(info.name) .. " [" .. info.namewhat .. "] " .. info.short_src .. " " .. info.source .. " " .. info.currentline .. " " .. info.linedefined .. " " .. info.nups end
local function show() print(what(1)) print(what(2)) print(what(3)) print(what(4)) end
local function last() return show() end
last()
local function fails() error("at two", 2) end
local function ends() return fails() end
print(pcall(function() ends() end))
print(pcall(function() fails() end))
local function of() return getfenv(2) end
local function ends_of() return of() end
print(pcall(function() local e = ends_of() return e end))
print(pcall(function() local e = of() return e == _G end))
local function deep() local function more() return inner() end local x = more() return x end
print((deep()))
-- A variable that changes says nothing.
local changed = function() return 1 end
changed = direct
print((changed()))
-- What is called through another function is found behind it.
print(select(2, pcall(function() local x = outer() return x end)))
-- Local functions in loops, with names that others have had.
for i = 1, 2 do
  local function same() return (debug.traceback("same " .. i)) end
  local x = same()
  print(x)
  do local function same() return inner() end local y = same() print(y) end
end
-- Hot.
local function leaf(n) if n == 3000 then return (debug.traceback("hot")) end return n end
local function tail(n) return leaf(n) end
local text
for i = 1, 3000 do text = tail(i) end
print(text)
-- In coroutines.
local co = coroutine.create(function() local function y() coroutine.yield() return 1 end local function t() return y() end local x = t() return x end)
coroutine.resume(co)
print(debug.traceback(co))
local x = xpcall(function() local function e() local y = nil + 1 return y end local function t() return e() end local z = t() end, function(m) print(debug.traceback(m)) end)
