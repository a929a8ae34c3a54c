local shared = 0
local function adder(...)
  local n = select("#", ...)
  for i = 1, n do
    shared = shared + select(i, ...)
    coroutine.yield(shared, ...)
  end
  return "end", n
end
local co = coroutine.wrap(adder)
print(co(1, 2, 3))
shared = shared + 100
print(co()) print(co()) print(co())
local get, set
local c2 = coroutine.wrap(function()
  local cell = "initial"
  get = function() return cell end
  set = function(v) cell = v end
  coroutine.yield()
  coroutine.yield(cell)
  cell = "from inside"
end)
c2()
print(get())
set("from outside")
print(c2(), get())
c2()
print(get())
