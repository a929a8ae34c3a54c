-- Errors raised and caught: strings and tables as values, calls in between, handlers, and cleaning up on the way.
-- longer: 5800000
local n = tonumber(arg[1]) or 970000

local open = 0

local function with_resource(f, ...)
  open = open + 1
  local ok, value = pcall(f, ...)
  open = open - 1
  if not ok then error(value, 0) end
  return value
end

local function deep(depth, value)
  if depth == 0 then
    if value % 5 == 0 then error({ code = value }) end
    if value % 7 == 0 then error("bad value " .. value % 100, 0) end
    return value
  end
  return (deep(depth - 1, value))
end

local sum, strings, tables = 0, 0, 0
for i = 1, n do
  local ok, value = pcall(with_resource, deep, 5, i)
  if ok then
    sum = (sum + value) % 1000003
  elseif type(value) == "table" then
    tables = tables + 1
    sum = (sum + value.code) % 1000003
  else
    strings = strings + #value
  end
  if i % 10 == 0 then
    local fine, text = xpcall(function() return nil + i end, function(message)
      return message:match("attempt to perform arithmetic") or "another error"
    end)
    if not fine then strings = strings + #text end
  end
end
sum = sum + strings * 3 + tables * 5 + open
print("errors " .. n .. " " .. sum)
assert(n ~= 970000 or sum == 14025831)
