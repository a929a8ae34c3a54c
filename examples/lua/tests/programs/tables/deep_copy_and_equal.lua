local function copy(value, seen)
  if type(value) ~= "table" then return value end
  seen = seen or {}
  if seen[value] then return seen[value] end
  local result = {}
  seen[value] = result
  for k, v in pairs(value) do result[copy(k, seen)] = copy(v, seen) end
  return setmetatable(result, getmetatable(value))
end
local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for k, v in pairs(a) do if not equal(v, b[k]) then return false end end
  for k in pairs(b) do if a[k] == nil then return false end end
  return true
end
local original = { 1, { 2, { 3 } }, x = { y = "z" } }
local other = copy(original)
print(equal(original, other), original == other, original.x == other.x)
other.x.y = "changed"
print(equal(original, other), original.x.y)
local cyclic = { name = "loop" }
cyclic.me = cyclic
local again = copy(cyclic)
print(again.me == again, again.me.me.name, again ~= cyclic)
