-- Calls with more results than a function has variables.
local P = print
local function many(n) local t = {} for i = 1, n do t[i] = i end return unpack(t) end
P("m1", select("#", many(300)), (select(300, many(300))))
P("m2", #{many(300)}, math.max(many(300)))
local function pass(...) return ... end
P("m3", select("#", pass(many(300))), select("#", pass(pass(many(300)), many(300))))
P("m4", select("#", pcall(many, 300)), select('#', coroutine.wrap(function() coroutine.yield(many(300)) end)()))
P("m11", pcall(string.char, many(255)) )
P("m12", select("#", string.byte(("x"):rep(300), 1, -1)))
P("m13", pcall(function() return select("#", string.byte(("x"):rep(8000), 1, -1)) end))
