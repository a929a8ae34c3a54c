-- Symmetric coroutines made of asymmetric ones.
local current = "main"
local function create(name, f) return { name = name, co = coroutine.create(f) } end
local function transfer(to, value) return coroutine.yield(to, value) end
local function run(first, value)
  local at = first
  local trace = {}
  while at do
    current = at.name
    trace[#trace + 1] = current
    local ok, to, v = coroutine.resume(at.co, value)
    if not ok then print("failed", to) break end
    at, value = to, v
  end
  return value, table.concat(trace, " ")
end
local a, b, c
a = create("a", function(v) v = transfer(b, v + 1) v = transfer(c, v * 2) return nil, v end)
b = create("b", function(v) v = transfer(a, v + 10) return a, v end)
c = create("c", function(v) v = transfer(b, v + 100) return nil, "unused" end)
print(run(a, 1))
local turns = {}
local players = {}
for i = 1, 3 do
  players[i] = create("p" .. i, function(n)
    while n < 12 do turns[#turns + 1] = i .. ":" .. n n = transfer(players[i % 3 + 1], n + 1) end
    return nil, n
  end)
end
print(run(players[1], 0))
print(table.concat(turns, " "))
