local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, " ") end
local ok = pcall(function()
  note("one")
  local inner = pcall(function()
    note("two")
    local ok, e = pcall(error, "three", 0)
    note(tostring(ok), e)
    error("four", 0)
  end)
  note(tostring(inner))
  xpcall(function() error("five", 0) end, function(m)
    note("handler", m)
    note("in handler", tostring(pcall(error, "six")))
    return m
  end)
  note("end")
end)
note(tostring(ok))
print(table.concat(log, "; "))
local function countdown(n) if n == 0 then error("zero", 0) end local ok, e = pcall(countdown, n - 1) return ok, e, n end
print(countdown(5))
print(pcall(pcall, pcall))
print(select("#", pcall(pcall, function() return 1, 2, 3 end)))
