local function tree(depth, value)
  if depth == 0 then return { value = value } end
  return { value = value, tree(depth - 1, value * 2), tree(depth - 1, value * 2 + 1) }
end
local function walk(node, order)
  return coroutine.wrap(function()
    local function go(n, level)
      if not n then return end
      if order == "pre" then coroutine.yield(n.value, level) end
      go(n[1], level + 1)
      if order == "in" then coroutine.yield(n.value, level) end
      go(n[2], level + 1)
      if order == "post" then coroutine.yield(n.value, level) end
    end
    go(node, 0)
  end)
end
local t = tree(3, 1)
for _, order in ipairs({ "pre", "in", "post" }) do
  for value, level in walk(t, order) do io.write(value, "@", level, " ") end
  print()
end
local function lines(text) return coroutine.wrap(function() for line in text:gmatch("[^\n]+") do coroutine.yield(line) end end) end
local function numbered(source) return coroutine.wrap(function() local n = 0 for line in source do n = n + 1 coroutine.yield(n, line) end end) end
for n, line in numbered(lines("first\nsecond\nthird")) do print(n, line) end
local function combinations(list, k)
  return coroutine.wrap(function()
    local chosen = {}
    local function pick(from, left)
      if left == 0 then coroutine.yield(table.concat(chosen, "")) return end
      for i = from, #list - left + 1 do
        chosen[#chosen + 1] = list[i]
        pick(i + 1, left - 1)
        chosen[#chosen] = nil
      end
    end
    pick(1, k)
  end)
end
for c in combinations({ "a", "b", "c", "d", "e" }, 3) do io.write(c, " ") end
print()
