-- A coroutine begins with a function of Lua, and with no other, whatever it is made of.
for _, name in ipairs { "pcall", "xpcall", "print", "error", "coroutine.yield", "coroutine.resume", "string.rep" } do
  local f = loadstring("return " .. name)()
  print(name, pcall(coroutine.create, f))
  print(name, pcall(coroutine.wrap, f))
end
print(pcall(coroutine.create, coroutine.wrap(function() end)))
print(coroutine.resume(coroutine.create(function(...) return pcall(...) end), error, "x"))
