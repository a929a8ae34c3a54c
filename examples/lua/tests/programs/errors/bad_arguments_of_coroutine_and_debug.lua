local function try(code) print(code, (select(2, pcall(loadstring(code, "=c"))))) end
for _, code in ipairs({ "coroutine.create()", "coroutine.create(1)", "coroutine.create(print)", "coroutine.resume()",
  "coroutine.resume(1)", "coroutine.status()", "coroutine.status({})", "coroutine.wrap()", "coroutine.wrap(1)", "coroutine.yield()",
  "debug.getinfo()", "debug.getinfo({})", "debug.getinfo(1, 'X')", "debug.getinfo(1, {})", "debug.getlocal()", "debug.getlocal(1)",
  "debug.getlocal(99, 1)", "debug.setlocal(1, 1)", "debug.getupvalue()", "debug.getupvalue(1, 1)", "debug.setupvalue(print, 1)",
  "debug.getmetatable()", "debug.setmetatable(1)", "debug.setmetatable(1, 1)", "debug.getfenv()", "debug.setfenv(1)",
  "debug.setfenv(1, {})", "debug.sethook(1)" }) do
  try(code)
end
