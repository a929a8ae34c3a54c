local pieces = { "return ", "1", " + ", "41" }
local i = 0
print(load(function() i = i + 1 return pieces[i] end)())
local done = false
print(load(function() if not done then done = true return "return 'one piece'" end end)())
print(load(function() return nil end)())
local text, at = "return 'byte by byte'", 0
print(load(function() at = at + 1 if at <= #text then return text:sub(at, at) end end)())
-- An empty text is the end, too.
local parts, n = { "return 5", "", " + 5" }, 0
print(load(function() n = n + 1 return parts[n] end)())
local count = 0
print(load(function() count = count + 1 if count <= 2 then return 5 end end, "=five"))
print(pcall(load, function() return {} end))
print(pcall(load, function() error("reader fails", 0) end))
local once = false
print(load(function() if not once then once = true return "x = = 1" end end, "=named"))
once = false
print(load(function() if not once then once = true return "x = = 1" end end))
print(pcall(load))
print(pcall(load, "return 1"))
print(pcall(load, nil))
