print(("x"):rep(3), ("%d"):format(5), #("abc"):upper())
local s = "value"
print(s:len(), s:sub(2, 3):upper(), s:find("l"))
print(("a,b"):gsub(",", ";"):len())
print(type(s.len), s.len == string.len, s.nothing)
print(pcall(function() return s.x.y end))
print(pcall(function() s.x = 1 end))
print(pcall(function() return s:nothing() end))
print(pcall(function() return ("x"):nope() end))
string.twice = function(text) return text .. text end
print(s:twice(), ("ab"):twice():twice())
string.twice = nil
print(s[1], s["len"] == string.len)
