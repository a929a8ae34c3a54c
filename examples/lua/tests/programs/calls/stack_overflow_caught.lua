local function forever(n) return 1 + forever(n + 1) end
local ok, message = pcall(forever, 1)
print(ok, (message:gsub("%d+", "N")):match("^[^\n]*") ~= nil, message:find("stack overflow", 1, true) ~= nil)
local function without_locals() without_locals() end
ok, message = pcall(without_locals)
print(ok, message:find("stack overflow", 1, true) ~= nil)
local t = setmetatable({}, {})
getmetatable(t).__index = function(self, k) return self[k + 1] end
ok, message = pcall(function() return t[1] end)
print(ok, message:find("overflow", 1, true) ~= nil)
-- All still works after that.
for round = 1, 3 do
  ok = pcall(forever, 1)
  io.write(tostring(ok), " ")
end
print(select("#", pcall(forever, 1)))
