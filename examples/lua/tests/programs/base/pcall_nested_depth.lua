local function nest(n)
  if n == 0 then error("bottom", 0) end
  local ok, message = pcall(nest, n - 1)
  error(message .. ".", 0)
end
local ok, message = pcall(nest, 30)
print(ok, message)
local function good(n)
  if n == 0 then return "value" end
  return select(2, pcall(good, n - 1))
end
print(good(100))
local count = 0
for i = 1, 1000 do
  if not pcall(error, i) then count = count + 1 end
end
print(count)
