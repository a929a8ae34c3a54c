local lines = {}
local function traced()
  local a = 1
  for i = 1, 2 do
    a = a + i
  end
  return a
end
debug.sethook(function(event, line) lines[#lines + 1] = line end, "l")
traced()
debug.sethook()
print(table.concat(lines, " "))
print(debug.gethook())
local calls = {}
local function called() return 1 end
debug.sethook(function(event) calls[#calls + 1] = event end, "cr")
called()
debug.sethook()
print(table.concat(calls, " "))
