-- Finds the loops of a graph of basic blocks: a walk in depth, sets joined by union and find, and a tree of loops.
-- longer: 36
local n = tonumber(arg[1]) or 9

local Block = {}
Block.__index = Block

local function new_graph() return { blocks = {}, count = 0 } end

local function block(graph, name)
  local it = graph.blocks[name]
  if not it then
    it = setmetatable({ name = name, into = {}, out = {} }, Block)
    graph.blocks[name] = it
    graph.count = graph.count + 1
  end
  return it
end

local function edge(graph, from, to)
  local a, b = block(graph, from), block(graph, to)
  a.out[#a.out + 1] = b
  b.into[#b.into + 1] = a
end

local function diamond(graph, at)
  edge(graph, at, at + 1)
  edge(graph, at, at + 2)
  edge(graph, at + 1, at + 3)
  edge(graph, at + 2, at + 3)
  return at + 3
end

local function straight(graph, at, count)
  for i = 0, count - 1 do edge(graph, at + i, at + i + 1) end
  return at + count
end

local function nest(graph, from)
  local header = straight(graph, from, 1)
  local first = diamond(graph, header)
  local inner = straight(graph, first, 1)
  local second = diamond(graph, inner)
  local last = straight(graph, second, 1)
  edge(graph, last, inner)
  edge(graph, last, header)
  return straight(graph, last, 1)
end

local Set = {}
Set.__index = Set

function Set:find()
  local seen, it = {}, self
  while it.parent ~= it do
    if it.parent ~= it.parent.parent then seen[#seen + 1] = it end
    it = it.parent
  end
  for _, passed in ipairs(seen) do passed.parent = it end
  return it
end

local Loop = {}
Loop.__index = Loop

local function new_loop(all, header, is_reducible)
  local loop = setmetatable({
    header = header, is_reducible = is_reducible, blocks = { header }, children = {}, parent = nil, depth = 0, nesting = 0,
  }, Loop)
  all[#all + 1] = loop
  return loop
end

function Loop:set_parent(parent)
  self.parent = parent
  parent.children[#parent.children + 1] = self
end

local function number(start)
  local order, numbers, last = {}, {}, {}
  local function enter(it)
    local mine = #order + 1
    order[mine] = setmetatable({ block = it, loop = nil, number = mine }, Set)
    order[mine].parent = order[mine]
    numbers[it] = mine
    return { block = it, next = 1 }
  end
  -- Not by recursion, which would be too deep.
  local stack = { enter(start) }
  while #stack > 0 do
    local top = stack[#stack]
    local to = top.block.out[top.next]
    top.next = top.next + 1
    if not to then
      last[numbers[top.block]] = #order
      stack[#stack] = nil
    elseif not numbers[to] then
      stack[#stack + 1] = enter(to)
    end
  end
  return order, numbers, last
end

local function find_loops(graph, all)
  local order, numbers, last = number(graph.blocks[0])
  local back, other, headers, kinds = {}, {}, {}, {}
  for w, set in ipairs(order) do
    back[w], other[w], headers[w], kinds[w] = {}, {}, 1, "plain"
    for _, from in ipairs(set.block.into) do
      local v = numbers[from]
      if v then
        local list = w <= v and v <= last[w] and back[w] or other[w]
        list[#list + 1] = v
      end
    end
  end
  for w = #order, 1, -1 do
    local pool, is_in = {}, {}
    for _, v in ipairs(back[w]) do
      if v ~= w then
        local set = order[v]:find()
        if not is_in[set] then
          is_in[set] = true
          pool[#pool + 1] = set
        end
      else
        kinds[w] = "self"
      end
    end
    if #pool > 0 then kinds[w] = "reducible" end
    local at = 1
    while at <= #pool do
      for _, v in ipairs(other[pool[at].number]) do
        local set = order[v]:find()
        if not (w <= set.number and set.number <= last[w]) then
          kinds[w] = "irreducible"
          other[w][#other[w] + 1] = set.number
        elseif set.number ~= w and not is_in[set] then
          is_in[set] = true
          pool[#pool + 1] = set
        end
      end
      at = at + 1
    end
    if #pool > 0 or kinds[w] == "self" then
      local loop = new_loop(all, order[w].block, kinds[w] ~= "irreducible")
      order[w].loop = loop
      for _, set in ipairs(pool) do
        headers[set.number] = w
        set.parent = order[w]
        if set.loop then set.loop:set_parent(loop) else loop.blocks[#loop.blocks + 1] = set.block end
      end
    end
  end
end

local function nesting(loop, depth)
  loop.depth, loop.nesting = depth, 0
  for _, child in ipairs(loop.children) do
    nesting(child, depth + 1)
    loop.nesting = math.max(loop.nesting, 1 + child.nesting)
  end
  return loop.nesting
end

local graph = new_graph()
edge(graph, 0, 1)
edge(graph, 1, 2)
local at = 2
for _ = 1, 20 do
  local top = at
  edge(graph, top, at + 1)
  at = at + 1
  for _ = 1, 10 do
    local outer = at
    at = straight(graph, outer, 1)
    for _ = 1, 5 do at = nest(graph, at) end
    edge(graph, at, outer)
    at = straight(graph, at, 1)
  end
  edge(graph, at, top)
end
local sum = 0
for round = 1, n do
  local all = {}
  find_loops(graph, all)
  local deepest, n_blocks = 0, 0
  for _, loop in ipairs(all) do
    if not loop.parent then deepest = math.max(deepest, nesting(loop, 1)) end
  end
  for _, loop in ipairs(all) do n_blocks = n_blocks + #loop.blocks * loop.depth end
  sum = (sum * 3 + #all * 100 + n_blocks + deepest) % 1000003
end
sum = graph.count * 1000003 + sum
print("havlak " .. n .. " " .. string.format("%d", sum))
assert(n ~= 9 or sum == 10423960298)
