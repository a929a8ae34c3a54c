local graph = { a = { b = 7, c = 9, f = 14 }, b = { a = 7, c = 10, d = 15 }, c = { a = 9, b = 10, d = 11, f = 2 },
  d = { b = 15, c = 11, e = 6 }, e = { d = 6, f = 9 }, f = { a = 14, c = 2, e = 9 }, island = {} }
local function sorted(t) local keys = {} for k in pairs(t) do keys[#keys + 1] = k end table.sort(keys) return ipairs(keys) end
local function dijkstra(from)
  local distance, previous, done = { [from] = 0 }, {}, {}
  while true do
    local best
    for node, d in pairs(distance) do
      if not done[node] and (not best or d < distance[best] or d == distance[best] and node < best) then best = node end
    end
    if not best then return distance, previous end
    done[best] = true
    for node, weight in pairs(graph[best]) do
      local d = distance[best] + weight
      if not distance[node] or d < distance[node] then distance[node], previous[node] = d, best end
    end
  end
end
local distance, previous = dijkstra("a")
for _, node in sorted(graph) do
  local path, at = {}, node
  while at and distance[node] do table.insert(path, 1, at) at = previous[at] end
  print(node, distance[node], table.concat(path, "-"))
end
local function breadth(from)
  local seen, queue, order = { [from] = true }, { from }, {}
  while #queue > 0 do
    local node = table.remove(queue, 1)
    order[#order + 1] = node
    for _, other in sorted(graph[node]) do if not seen[other] then seen[other] = true queue[#queue + 1] = other end end
  end
  return table.concat(order, " ")
end
local function depth(node, seen, order)
  if seen[node] then return order end
  seen[node] = true
  order[#order + 1] = node
  for _, other in sorted(graph[node]) do depth(other, seen, order) end
  return order
end
print(breadth("a"), table.concat(depth("a", {}, {}), " "))
local tasks = { shoes = { "socks", "trousers" }, trousers = { "underwear" }, jacket = { "shirt", "belt" }, belt = { "trousers", "shirt" },
  socks = {}, underwear = {}, shirt = {} }
local function topological(tasks)
  local state, order = {}, {}
  local function visit(task)
    if state[task] == "done" then return end
    if state[task] then error("cycle at " .. task, 0) end
    state[task] = "open"
    table.sort(tasks[task])
    for _, need in ipairs(tasks[task]) do visit(need) end
    state[task] = "done"
    order[#order + 1] = task
  end
  for _, task in sorted(tasks) do visit(task) end
  return table.concat(order, " ")
end
print(topological(tasks))
tasks.socks = { "shoes" }
print(pcall(topological, tasks))
local parent = {}
local function find(x) if parent[x] ~= x then parent[x] = find(parent[x]) end return parent[x] end
for i = 1, 100 do parent[i] = i end
for i = 1, 90 do parent[find(i)] = find(i + 7 <= 100 and i + 7 or i) end
local groups = {}
for i = 1, 100 do groups[find(i)] = (groups[find(i)] or 0) + 1 end
local sizes = {}
for _, n in pairs(groups) do sizes[#sizes + 1] = n end
table.sort(sizes)
print(table.concat(sizes, " "))
