local function nest(n)
  if n == 0 then coroutine.yield("bottom") return "returned" end
  local co = coroutine.wrap(nest)
  local first = co(n - 1)
  coroutine.yield(first .. n)
  return co()
end
local co = coroutine.wrap(nest)
print(co(10))
print(co())
local depth = 0
local function deeper(n)
  depth = n
  if n >= 150 then return n end
  return coroutine.wrap(deeper)(n + 1)
end
print(deeper(1), depth)
