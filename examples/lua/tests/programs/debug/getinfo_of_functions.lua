local function f(a, b)
  local c = a
  return c
end
local info = debug.getinfo(f)
print(info.what, info.short_src, info.source, info.linedefined, info.lastlinedefined, info.nups, info.func == f, info.currentline)
info = debug.getinfo(print)
print(info.what, info.short_src, info.source, info.linedefined, info.lastlinedefined, info.currentline, info.func == print)
info = debug.getinfo(f, "L")
local lines = {}
for line in pairs(info.activelines) do lines[#lines + 1] = line end
table.sort(lines)
print(table.concat(lines, " "))
info = debug.getinfo(f, "u")
print(info.nups, info.what, info.func)
info = debug.getinfo(1)
print(info.what, info.currentline, info.short_src, info.linedefined, info.namewhat)
local chunk = loadstring("return 1", "=named")
info = debug.getinfo(chunk, "S")
print(info.what, info.source, info.short_src, info.linedefined)
info = debug.getinfo(loadstring("x = 1\ny = 2"), "S")
print(info.source, info.short_src)
print(debug.getinfo(100))
local up1, up2 = 1, 2
print(debug.getinfo(function() return up1, up2 end, "u").nups)
