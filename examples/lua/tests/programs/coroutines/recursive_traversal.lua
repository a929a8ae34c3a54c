local function insert(tree, v)
  if not tree then return { value = v } end
  if v < tree.value then tree.left = insert(tree.left, v) else tree.right = insert(tree.right, v) end
  return tree
end
local function walk(tree) if tree then walk(tree.left) coroutine.yield(tree.value) walk(tree.right) end end
local function values(tree) return coroutine.wrap(function() walk(tree) end) end
local a, b
for _, v in ipairs({ 5, 2, 8, 1, 9, 3 }) do a = insert(a, v) end
for _, v in ipairs({ 1, 2, 3, 5, 8, 9 }) do b = insert(b, v) end
for v in values(a) do io.write(v, " ") end
print()
local function same(x, y)
  local f, g = values(x), values(y)
  while true do
    local p, q = f(), g()
    if p ~= q then return false end
    if p == nil then return true end
  end
end
print(same(a, b), same(a, insert(b, 7)))
