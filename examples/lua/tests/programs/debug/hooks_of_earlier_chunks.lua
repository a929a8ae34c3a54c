-- Hooks, and who asks for local variables, see functions that were loaded before anything named the functions that do it. What runs
-- when the first hook is set is left out here: it is not compiled again.
local set_hook, get_local, get_info = debug["set" .. "hook"], debug["get" .. "local"], debug["get" .. "info"]

local function leaf(a, b)
  local sum = a + b
  return sum
end

local up = 10
local function counts(n)
  local total = 0
  for i = 1, n do
    total = total + leaf(i, up)
  end
  up = up + 1
  return total
end

local function maker(x)
  local y = x * 2
  return function(z)
    y = y + z
    return x + y
  end
end

local function with_varargs(first, ...)
  local n = select("#", ...)
  local a, b = ...
  return first, n, a, b
end

local object = {value = 3}
function object:method(k)
  self.value = self.value + k
  return self.value
end

local function recursive(n)
  if n == 0 then return 0 end
  return 1 + recursive(n - 1)
end

local function looks(name)
  local mine, other = "m" .. name, {1, 2}
  local found = {}
  for at = 1, 10 do
    local key, value = get_local(1, at)
    if not key then break end
    if not key:find("%(") then found[#found + 1] = key .. ":" .. type(value) end
  end
  return table.concat(found, " "), mine, #other
end

local loaded = loadstring("local a = ... local b = a + 1 return b * 2", "=loaded")
local made = maker(4)
local meta = setmetatable({}, {__add = function(a, b) return 5 end, __index = function(t, k) return k .. "!" end})

local function all()
  local t = {}
  t[#t + 1] = counts(3)
  t[#t + 1] = made(2)
  t[#t + 1] = maker(7)(1)
  t[#t + 1] = table.concat({with_varargs(1, 2, 3)}, ",")
  t[#t + 1] = object:method(2)
  t[#t + 1] = recursive(4)
  t[#t + 1] = loaded(20)
  t[#t + 1] = meta + 1
  t[#t + 1] = meta.key
  table.sort(t, function(a, b) return tostring(a) < tostring(b) end)
  local co = coroutine.wrap(function(x) local y = coroutine.yield(x + 1) return y * 2 end)
  t[#t + 1] = co(1)
  t[#t + 1] = co(5)
  t[#t + 1] = tostring(pcall(function() local e = nil; return e.x end))
  return t
end

-- Before: calls learn what the functions are, and they climb.
local before
for round = 1, 200 do before = all() end
print(unpack(before))
looks("a")
print(looks("b"))

for _, mask in ipairs({"l", "c", "r", "crl"}) do
  local seen, n = {}, 0
  local function hook(event, line)
    local info = get_info(2, "S")
    if info.what == "Lua" or info.short_src == "loaded" then
      n = n + 1
      seen[#seen + 1] = event:sub(1, 1) .. (line or info.linedefined)
    end
  end
  set_hook(hook, mask)
  local result = all()
  set_hook()
  -- This function, and those that the hook is set in, are left out above.
  print(mask, n, table.concat(seen, " "))
  print(unpack(result))
end

-- A hook ends what runs without end.
local function endless() local n = 0; while true do n = n + 1 end end
set_hook(function() error("enough", 0) end, "", 100000)
print(pcall(endless))
set_hook()
local count = 0
set_hook(function() count = count + 1 end, "", 1000)
counts(5000)
set_hook()
print(count > 20, count < 200)

-- All is as it was.
for round = 1, 200 do before = all() end
print(unpack(before))
print(string.dump(leaf) ~= nil, loadstring(string.dump(leaf))(3, 4))
collectgarbage()
print(maker(1)(2), with_varargs(1, 2, 3, 4), recursive(100))
