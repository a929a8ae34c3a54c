local function queens(n, each)
  local columns, up, down, place, count = {}, {}, {}, {}, 0
  local function try(row)
    if row > n then count = count + 1 if each then each(place) end return end
    for column = 1, n do
      if not columns[column] and not up[row + column] and not down[row - column] then
        columns[column], up[row + column], down[row - column] = true, true, true
        place[row] = column
        try(row + 1)
        columns[column], up[row + column], down[row - column] = nil, nil, nil
      end
    end
  end
  try(1)
  return count
end
for n = 1, 7 do io.write(queens(n), " ") end
print()
local first
queens(6, function(place) first = first or table.concat(place, " ") end)
print(first)
queens(4, function(place)
  for _, column in ipairs(place) do print(("."):rep(column - 1) .. "Q" .. ("."):rep(4 - column)) end
  print()
end)
-- The same by coroutines.
local function solutions(n)
  return coroutine.wrap(function() queens(n, function(p) coroutine.yield(table.concat(p)) end) end)
end
for s in solutions(5) do io.write(s, " ") end
print()
