print(_VERSION)
print(_G._G == _G, _G._VERSION == _VERSION)
local names = {}
-- The global `bit` is LuaJIT's.
for name in pairs(_G) do if name ~= "bit" then names[#names + 1] = name end end
table.sort(names)
print(table.concat(names, " "))
local function list(name)
  local found = {}
  for key in pairs(_G[name]) do found[#found + 1] = key end
  table.sort(found)
  print(name, table.concat(found, " "))
end
list("string") list("table") list("math") list("os") list("io") list("coroutine") list("debug") list("package")
