local function inner() return (debug.traceback("in a tail call")) end
local function outer() return inner() end
print((outer()))
local function tails(n) if n == 0 then return (debug.traceback("tails")) end return tails(n - 1) end
print((tails(5)))
local function what(level) return (debug.getinfo(level + 1, "S") or { what = "none" }).what end
local function show() print(what(1), what(2), what(3), what(4)) end
local function last() return show() end
last()
