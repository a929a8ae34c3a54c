for _, value in ipairs({ 0, "", "false", {}, print, 0 / 0, -0 }) do
  io.write(value and "true " or "false ")
end
print(nil and true, false and true, not 0, not "", not not nil)
local t = setmetatable({}, { __eq = function() return false end })
print(t == t, t ~= t, not t)
print(nil == false, 0 == false, "" == nil, "0" == 0)
local a = nil
a = a or 5
a = a and a + 1
print(a, a and nil, a or error("not evaluated"))
local function value() return nil end
print(value() == nil, (value()) == nil, not value())
