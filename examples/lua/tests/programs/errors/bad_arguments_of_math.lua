local function try(f, ...) print(select(2, pcall(f, ...))) end
local functions = { "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "deg", "exp", "floor", "frexp", "log", "log10", "modf",
  "rad", "sin", "sinh", "sqrt", "tan", "tanh", "atan2", "fmod", "ldexp", "max", "min", "pow", "randomseed" }
for _, name in ipairs(functions) do
  local f = math[name]
  try(loadstring("math." .. name .. "()", "=c"))
  try(loadstring("math." .. name .. "({})", "=c"))
  try(loadstring("math." .. name .. "('x')", "=c"))
end
for _, name in ipairs({ "atan2", "fmod", "ldexp", "pow", "max", "min" }) do
  try(loadstring("math." .. name .. "(1)", "=c"))
  try(loadstring("math." .. name .. "(1, {})", "=c"))
end
try(function() math.random(0) end)
try(function() math.random(2, 1) end)
try(function() math.random({}) end)
