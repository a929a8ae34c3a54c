-- At the end all finalizers run, also behind one that fails. Those that got it last come first.
for i = 1, 3 do
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function() print("finalized", i) end
  _G["kept" .. i] = proxy
end
local fails = newproxy(true)
getmetatable(fails).__gc = function() error("nobody sees this") end
kept = fails
print("end")
