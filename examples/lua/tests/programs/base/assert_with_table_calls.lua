-- A message may be of any type, though not a missing one.
local function try(...) return pcall(assert, ...) end
local values = { true, 12, 1.5, "s" }
for i = 1, #values do
  local ok, value = try(false, values[i])
  print(ok, type(value), value)
end
local t = setmetatable({}, { __tostring = function() return "shown" end })
local ok, value = try(nil, t)
print(ok, type(value), tostring(value))
