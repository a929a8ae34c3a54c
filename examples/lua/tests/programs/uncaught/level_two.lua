local function check(x) if type(x) ~= "number" then error("number wanted", 2) end end
local function user()
  check(1)
  check("x")
end
user()
