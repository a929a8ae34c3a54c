-- A traceback of many levels.
local function deeper(n)
  if n == 0 then error("it is deep") end
  deeper(n - 1)
  return 1
end
deeper(40)
