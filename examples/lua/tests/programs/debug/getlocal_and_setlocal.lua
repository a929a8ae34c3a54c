local function names(level)
  local list = {}
  local i = 1
  while true do
    local name, value = debug.getlocal(level + 1, i)
    if not name then break end
    list[#list + 1] = name .. "=" .. tostring(value)
    i = i + 1
  end
  return table.concat(list, " ")
end
local function f(a, b)
  local c = a + b
  do local hidden = 1 end
  for i = 1, 1 do
    local inside = i * 2
    if inside ~= 2 then return end
  end
  local s = names(1)
  return s
end
print(f(1, 2))
local function g(x)
  local name = debug.setlocal(1, 1, "changed")
  return name, x, debug.setlocal(1, 10, 1)
end
print(g("original"))
print((debug.getlocal(1, 1)))
print(debug.getlocal(1, 100))
local co = coroutine.create(function(p) local q = p * 2 coroutine.yield() return q end)
coroutine.resume(co, 21)
print(debug.getlocal(co, 1, 1), debug.getlocal(co, 1, 2))
print(debug.setlocal(co, 1, 2, "from outside"))
print(coroutine.resume(co))
