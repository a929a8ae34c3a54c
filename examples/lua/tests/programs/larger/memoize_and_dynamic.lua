local function memoize(f)
  local cache, hits = {}, 0
  return function(n)
    local v = cache[n]
    if v == nil then v = f(n) cache[n] = v else hits = hits + 1 end
    return v
  end, function() return hits end
end
local fib, hits
fib, hits = memoize(function(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end)
print(fib(80), hits())
local collatz
collatz = memoize(function(n) if n == 1 then return 1 end return 1 + collatz(n % 2 == 0 and n / 2 or 3 * n + 1) end)
local best, length = 0, 0
for i = 1, 2000 do local l = collatz(i) if l > length then best, length = i, l end end
print(best, length)
local function subsequence(a, b)
  local m = {}
  for i = 0, #a do m[i] = { [0] = 0 } end
  for j = 0, #b do m[0][j] = 0 end
  for i = 1, #a do
    for j = 1, #b do
      if a:byte(i) == b:byte(j) then m[i][j] = m[i - 1][j - 1] + 1 else m[i][j] = math.max(m[i - 1][j], m[i][j - 1]) end
    end
  end
  local parts, i, j = {}, #a, #b
  while i > 0 and j > 0 do
    if a:byte(i) == b:byte(j) then table.insert(parts, 1, a:sub(i, i)) i, j = i - 1, j - 1
    elseif m[i - 1][j] >= m[i][j - 1] then i = i - 1 else j = j - 1 end
  end
  return table.concat(parts)
end
print(subsequence("the quick brown fox", "a quiet clown box"))
local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal
    diagonal, row[0] = row[0], i
    for j = 1, #b do
      local cost = a:sub(i, i) == b:sub(j, j) and 0 or 1
      diagonal, row[j] = row[j], math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
    end
  end
  return row[#b]
end
print(distance("kitten", "sitting"), distance("", "abc"), distance("same", "same"), distance("flaw", "lawn"))
local function knapsack(items, capacity)
  local value = {}
  for w = 0, capacity do value[w] = 0 end
  for _, item in ipairs(items) do
    for w = capacity, item[1], -1 do value[w] = math.max(value[w], value[w - item[1]] + item[2]) end
  end
  return value[capacity]
end
print(knapsack({ { 12, 4 }, { 2, 2 }, { 1, 1 }, { 1, 2 }, { 4, 10 } }, 15))
local function ways(coins, amount)
  local w = { [0] = 1 }
  for _, c in ipairs(coins) do for a = c, amount do w[a] = (w[a] or 0) + (w[a - c] or 0) end end
  return w[amount] or 0
end
print(ways({ 1, 2, 5, 10, 20, 50, 100, 200 }, 200), ways({ 5 }, 7))
