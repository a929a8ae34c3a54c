-- A handler also sees the errors in itself, until it fails no more.
print(xpcall(function() error({}) end, function(e) if type(e) == "table" then error("text") end return e .. "!" end))
print(xpcall(function() error({}) end, function(e) if type(e) == "table" then error("text", 0) end return e .. "!" end))
print(xpcall(function() error({}) end, function(e) if type(e) == "table" then e.x.y = 1 end return e end))
local n = 0
print(xpcall(function() error({}) end, function(e) n = n + 1 if n < 5 then error(n, 0) end return e end), n)
n = 0
print(xpcall(function() error({}) end, function(e) n = n + 1 if n < 150 then e.x.y = 1 end return type(e) end), n)
-- One that always fails is given up.
n = 0
print(xpcall(function() error({}) end, function(e) n = n + 1 error(e, 0) end), n > 100 and n < 300)
print(xpcall(function() error({}) end, function(e) return e + 1 end))
print(xpcall(function() error("one") end, error))
-- What is called and is no function handles nothing.
n = 0
print(xpcall(function() error("one") end, setmetatable({}, { __call = function() n = n + 1 return "called" end })), n)
-- What a protected call in the handler catches is no error of the handler.
print(xpcall(function() error("one", 0) end, function(e)
  local good, inner = pcall(error, "inner", 0)
  local other, more = xpcall(function() error(inner .. "!", 0) end, function(x) return x .. e end)
  return tostring(good) .. inner .. tostring(other) .. more
end))
print(xpcall(function() error("one", 0) end, function(e)
  local co = coroutine.wrap(function() error(e .. " in a coroutine", 0) end)
  if e == "one" then co() end
  return e .. ", seen"
end))
-- Calls that nest without end in the handler.
local function deep(e) return 1 + deep(e) end
print(xpcall(function() error("one", 0) end, deep))
print(xpcall(function() error("one", 0) end, function(e) return (select(2, pcall(deep))):match("stack overflow") end))
print(xpcall(function() return 1 + deep() end, deep))
-- All that works again behind it.
print(xpcall(function() error("two", 0) end, function(e) return e .. "!" end), pcall(error, "three", 0))
