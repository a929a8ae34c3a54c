local function pair()
  local shared = 0
  local function add(n) shared = shared + n end
  local function get() return shared end
  return add, get
end
local add, get = pair()
add(5) add(6)
print(get())
local function three()
  local x = 1
  local function a() x = x + 1 return x end
  local function b() local function c() x = x * 10 return x end return c end
  return a, b(), function() return x end
end
local a, c, x = three()
print(a(), c(), a(), c(), x())
-- The cell is still the variable itself while the function runs.
local function live()
  local v = 1
  local function set(n) v = n end
  set(2)
  local first = v
  v = 3
  set(v + 1)
  return first, v
end
print(live())
