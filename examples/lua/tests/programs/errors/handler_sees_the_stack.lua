local function level3() error("deep") end
local function level2() level3() end
local function level1() level2() end
local ok, trace = xpcall(level1, debug.traceback)
print(ok, trace)
print(xpcall(level1, function(m)
  local names = {}
  for level = 1, 10 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    names[#names + 1] = info.what .. info.currentline
  end
  return table.concat(names, " ")
end))
