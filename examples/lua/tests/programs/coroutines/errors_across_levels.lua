local function level(n)
  return coroutine.create(function()
    if n == 0 then error("at the bottom", 0) end
    local ok, e = coroutine.resume(level(n - 1))
    if n % 2 == 0 then error(e .. " via " .. n, 0) end
    coroutine.yield(e .. " held by " .. n)
    return e
  end)
end
for n = 0, 4 do print(n, coroutine.resume(level(n))) end
local wrapped = coroutine.wrap(function()
  local inner = coroutine.wrap(function() error("inner error") end)
  inner()
end)
print(pcall(wrapped))
local table_error = coroutine.wrap(function() coroutine.wrap(function() error({ level = 2 }) end)() end)
local ok, e = pcall(table_error)
print(ok, type(e), e.level)
local co = coroutine.create(function()
  local results = {}
  for i = 1, 3 do results[i] = tostring(select(2, pcall(error, "e" .. i, 0))) coroutine.yield(i) end
  return table.concat(results, " ")
end)
repeat local ok, v = coroutine.resume(co) io.write(tostring(v), "; ") until coroutine.status(co) == "dead"
print()
print(select("#", coroutine.resume(coroutine.create(function() return nil, nil end))))
