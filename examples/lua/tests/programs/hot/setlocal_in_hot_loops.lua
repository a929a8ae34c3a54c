-- Variables that others assign to while a function waits, in loops that are compiled.
local sum = 0
local function add(level, index, value)
  local name = debug.setlocal(level, index, value)
  return name
end

local function counts(n, step)
  local total, names = 0, {}
  for i = 1, n do
    local weight = 1
    local name = add(2, 9, step)
    names[name or "none"] = (names[name or "none"] or 0) + 1
    total = total + weight
  end
  return total, names
end
for _, n in ipairs { 10, 3000 } do
  local total, names = counts(n, 7)
  local seen = {}
  for name, count in pairs(names) do seen[#seen + 1] = name .. "=" .. count end
  print(n, total, table.concat(seen, " "))
end

-- A loop goes on as it would, whatever its variable is made.
local function turns(n)
  local turns, seen = 0, 0
  for i = 1, n do
    add(2, 7, 7)
    turns, seen = turns + 1, seen + i
  end
  return turns, seen
end
print(turns(10))
print(turns(3000))

-- A number becomes something else meanwhile, and back.
local function changes(n)
  local x, results = 0, {}
  for i = 1, n do
    x = x + 1
    if i % 500 == 0 then debug.setlocal(1, 2, tostring(x)) end
    if i % 500 == 1 and i > 1 then results[#results + 1] = type(x) .. x end
  end
  return table.concat(results, " ")
end
print(changes(4000))

-- Through several functions, one of which is small.
local function deep(n, value)
  local kept = "old"
  local function inner()
    local name = add(3, 3, value)
    return name
  end
  local name
  for i = 1, n do name = inner() end
  return kept, name
end
for i = 1, 200 do sum = sum + #tostring(deep(20, i)) end
print(sum, deep(5, "new"))
