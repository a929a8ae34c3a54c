local meta = {}
meta.__concat = function(a, b)
  local function text(v) return type(v) == "table" and v.s or tostring(v) end
  return setmetatable({ s = "(" .. text(a) .. "~" .. text(b) .. ")" }, meta)
end
local function new(s) return setmetatable({ s = s }, meta) end
local a, b, c = new("a"), new("b"), new("c")
print((a .. b).s, (a .. b .. c).s, ((a .. b) .. c).s)
print((a .. "x").s, ("x" .. a).s, (a .. 1).s, (1 .. a).s)
print(("x" .. "y" .. a).s, (a .. "x" .. "y").s, ("x" .. a .. "y").s)
print(("p" .. "q" .. a .. "r" .. "s").s)
print((1 .. 2 .. a .. 3 .. 4).s)
print((a .. nil).s, (nil .. a).s, (true .. a).s)
local returns_text = setmetatable({}, { __concat = function(x, y) return "text" end })
print("1" .. returns_text .. "2", returns_text .. "3")
print((a .. b .. { s = "plain" }).s)
print(pcall(function() return "x" .. {} .. "y" end))
