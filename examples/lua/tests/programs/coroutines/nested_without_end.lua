local depth = 0
local function forever()
  depth = depth + 1
  return coroutine.wrap(forever)()
end
local ok, message = pcall(forever)
print(ok, type(message), message:find("C stack overflow", 1, true) ~= nil, depth > 50)
-- Afterwards all works.
print(coroutine.wrap(function(...) return ... end)("again"))
