local tasks, log = {}, {}
local function spawn(name, f) tasks[#tasks + 1] = { name = name, co = coroutine.create(f), wake = 0 } end
local time = 0
local function sleep(n) coroutine.yield(n) end
spawn("a", function() for i = 1, 3 do log[#log + 1] = time .. "a" .. i sleep(2) end end)
spawn("b", function() for i = 1, 2 do log[#log + 1] = time .. "b" .. i sleep(3) end end)
spawn("c", function() log[#log + 1] = time .. "c" error("task c fails", 0) end)
while #tasks > 0 do
  for i = #tasks, 1, -1 do
    local task = tasks[i]
    if task.wake <= time then
      local ok, delay = coroutine.resume(task.co)
      if not ok then log[#log + 1] = "error: " .. delay end
      if coroutine.status(task.co) == "dead" then table.remove(tasks, i) else task.wake = time + delay end
    end
  end
  time = time + 1
end
print(table.concat(log, " "), time)
