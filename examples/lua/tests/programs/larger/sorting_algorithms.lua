local seed = 42
local function random(n) seed = (seed * 16807) % 2147483647 return seed % n + 1 end
local function copy(t) local c = {} for i = 1, #t do c[i] = t[i] end return c end
local sorts = {}
function sorts.bubble(t)
  local n = #t
  repeat
    local swapped = false
    for i = 2, n do if t[i - 1] > t[i] then t[i - 1], t[i] = t[i], t[i - 1] swapped = true end end
    n = n - 1
  until not swapped
end
function sorts.insertion(t)
  for i = 2, #t do
    local v, j = t[i], i - 1
    while j > 0 and t[j] > v do t[j + 1] = t[j] j = j - 1 end
    t[j + 1] = v
  end
end
function sorts.quick(t)
  local function go(low, high)
    if low >= high then return end
    local pivot, i, j = t[math.floor((low + high) / 2)], low, high
    while i <= j do
      while t[i] < pivot do i = i + 1 end
      while t[j] > pivot do j = j - 1 end
      if i <= j then t[i], t[j] = t[j], t[i] i, j = i + 1, j - 1 end
    end
    go(low, j) return go(i, high)
  end
  go(1, #t)
end
function sorts.merge(t)
  local function go(list)
    if #list <= 1 then return list end
    local middle, a, b = math.floor(#list / 2), {}, {}
    for i, v in ipairs(list) do if i <= middle then a[#a + 1] = v else b[#b + 1] = v end end
    a, b = go(a), go(b)
    local merged, i, j = {}, 1, 1
    while i <= #a or j <= #b do
      if j > #b or i <= #a and a[i] <= b[j] then merged[#merged + 1] = a[i] i = i + 1
      else merged[#merged + 1] = b[j] j = j + 1 end
    end
    return merged
  end
  for i, v in ipairs(go(t)) do t[i] = v end
end
function sorts.heap(t)
  local function sift(root, last)
    while root * 2 <= last do
      local child = root * 2
      if child < last and t[child] < t[child + 1] then child = child + 1 end
      if t[root] >= t[child] then return end
      t[root], t[child] = t[child], t[root]
      root = child
    end
  end
  for i = math.floor(#t / 2), 1, -1 do sift(i, #t) end
  for last = #t, 2, -1 do t[1], t[last] = t[last], t[1] sift(1, last - 1) end
end
function sorts.library(t) table.sort(t) end
function sorts.shell(t)
  local gap = math.floor(#t / 2)
  while gap > 0 do
    for i = gap + 1, #t do
      local v, j = t[i], i
      while j > gap and t[j - gap] > v do t[j] = t[j - gap] j = j - gap end
      t[j] = v
    end
    gap = math.floor(gap / 2)
  end
end
local names = {}
for name in pairs(sorts) do names[#names + 1] = name end
table.sort(names)
local inputs = { { 3, 1, 2 }, {}, { 1 }, { 2, 2, 2 }, { 5, 4, 3, 2, 1 }, { "pear", "apple", "fig" }, {} }
for i = 1, 200 do inputs[7][i] = random(1000) end
for _, name in ipairs(names) do
  local results = {}
  for i, input in ipairs(inputs) do
    local t = copy(input)
    sorts[name](t)
    local checksum = 0
    if type(t[1]) == "number" then for k, v in ipairs(t) do checksum = (checksum * 31 + v * k) % 1000003 end end
    results[i] = #t <= 5 and table.concat(t, ",") or checksum
  end
  print(name, table.concat(results, " | "))
end
