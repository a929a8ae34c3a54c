-- Generators as coroutines: numbers, filters of primes in a chain, and the walk of a tree by nested generators.
-- longer: 3700
local n = tonumber(arg[1]) or 550

local wrap, yield = coroutine.wrap, coroutine.yield

local function from(first)
  return wrap(function()
    local i = first
    while true do
      yield(i)
      i = i + 1
    end
  end)
end

local function without(divisor, source)
  return wrap(function()
    while true do
      local i = source()
      if i % divisor ~= 0 then yield(i) end
    end
  end)
end

local function insert(tree, key)
  if not tree then return { key = key, left = nil, right = nil } end
  if key < tree.key then tree.left = insert(tree.left, key) else tree.right = insert(tree.right, key) end
  return tree
end

local function walk(tree)
  return wrap(function()
    if not tree then return end
    for key in walk(tree.left) do yield(key) end
    yield(tree.key)
    for key in walk(tree.right) do yield(key) end
  end)
end

local sum, seed = 0, 3
for _ = 1, n do
  local source = from(2)
  for _ = 1, 60 do
    local prime = source()
    sum = sum + prime
    source = without(prime, source)
  end
  local tree = nil
  for _ = 1, 300 do
    seed = seed * 16807 % 2147483647
    tree = insert(tree, seed % 100000)
  end
  for key in walk(tree) do sum = (sum * 3 + key) % 1000003 end
end
print("generators " .. n .. " " .. sum)
assert(n ~= 550 or sum == 656666)
