local original = tostring
local function try(...)
  local ok, message = pcall(print, ...)
  io.write(original(ok), " ", original(message), "\n")
end
function tostring(value) return "[" .. original(value) .. "]" end
print(1, "x", nil)
tostring = nil
try(1)
try()
tostring = function() return nil end
try(1)
tostring = function() return {} end
try(1)
tostring = function() return 5 end
print("a number is a text")
tostring = original
print("again")
