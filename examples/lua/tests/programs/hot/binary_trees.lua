local function bottom_up(item, depth)
  if depth == 0 then return { item } end
  depth = depth - 1
  return { item, bottom_up(2 * item - 1, depth), bottom_up(2 * item, depth) }
end
local function check(tree) if tree[2] then return tree[1] + check(tree[2]) - check(tree[3]) end return tree[1] end
for depth = 4, 10, 2 do
  local sum = 0
  for i = 1, 2 ^ (10 - depth + 2) do sum = sum + check(bottom_up(i, depth)) + check(bottom_up(-i, depth)) end
  print(depth, sum)
end
local long = bottom_up(0, 11)
print(check(long))
local tree
local function insert(node, key)
  if not node then return { key = key, size = 1 } end
  if key < node.key then node.left = insert(node.left, key) elseif key > node.key then node.right = insert(node.right, key) end
  node.size = 1 + (node.left and node.left.size or 0) + (node.right and node.right.size or 0)
  return node
end
local seed = 1
for i = 1, 3000 do seed = (seed * 16807) % 2147483647 tree = insert(tree, seed % 5000) end
local function depth(n) if not n then return 0 end return 1 + math.max(depth(n.left), depth(n.right)) end
print(tree.size, depth(tree))
local function walk(n, f) if n then walk(n.left, f) f(n.key) walk(n.right, f) end end
local last, sorted, sum = -1, true, 0
walk(tree, function(k) if k <= last then sorted = false end last = k sum = sum + k end)
print(sorted, sum)
