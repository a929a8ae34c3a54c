-- What a table has in its array is set there, also where a bytecode knows a function for what such tables do not have. (Found by random programs.)
local function set(t, k, v) t[k] = v end
local seen = {}
local Watched = {__newindex = function(t, k, v) seen[#seen + 1] = tostring(k) end}
local function watched() return setmetatable({10, 20, name = "w"}, Watched) end
local tables = {}
for i = 1, 12 do tables[i] = i % 3 == 0 and {i, i, name = i} or watched() end
for round = 1, 40 do
  for i = 1, #tables do
    local t = tables[i]
    -- A name comes first, so that the bytecode knows the function before it meets a number.
    set(t, "other", round)
    set(t, "name", round)
    set(t, 2, i)
    set(t, 3, i)
    set(t, 2.5, i)
    set(t, true, i)
  end
end
local sum, kinds = 0, {}
for i = 1, #tables do sum = sum + tables[i][1] * 100 + tables[i][2] + (tables[i][3] or 0) + tables[i].name end
for i = 1, #seen do kinds[seen[i]] = (kinds[seen[i]] or 0) + 1 end
print(sum, #seen, kinds.other, kinds.name, kinds["2"], kinds["3"], kinds["2.5"], kinds["true"])
