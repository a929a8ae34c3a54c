local log = {}
local meta = {
  __eq = function(a, b) log[#log + 1] = "eq" return true end,
  __lt = function(a, b) log[#log + 1] = "lt" return true end,
  __le = function(a, b) log[#log + 1] = "le" return true end,
}
local a, b = setmetatable({}, meta), setmetatable({}, meta)
local results = { a == b, a ~= b, a < b, a > b, a <= b, a >= b, not (a == b), not (a < b), a == a, rawequal(a, b) }
for i, r in ipairs(results) do io.write(tostring(r), " ") end
print(table.concat(log, " "))
log = {}
print(a == 1, a == "x", a == nil, a == print, a == newproxy(), #log)
for _, other in ipairs({ 1, "x", true, print }) do
  io.write(tostring(pcall(function() return a < other end)), " ", tostring(pcall(function() return other <= a end)), " ")
end
print(#log)
local truth = { 0, "", {}, false }
for i = 1, 4 do
  meta.__lt = function() return truth[i] end
  io.write(tostring(a < b), " ", tostring(not (a < b)), " ", a < b and "yes" or "no", "; ")
end
print()
meta.__lt = function() return nil end
meta.__le = nil
print(a < b, a <= b, a >= b, a > b)
meta.__lt = 5
print(pcall(function() return a < b end))
