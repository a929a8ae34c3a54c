-- Knight's tours of a board by Warnsdorff's rule, with backtracking, from every square of a diagonal. After many
-- steps a search is given up.
-- longer: 50
local n = tonumber(arg[1]) or 9

local DX = { 1, 2, 2, 1, -1, -2, -2, -1 }
local DY = { 2, 1, -1, -2, -2, -1, 1, 2 }

local function neighbours(size)
  local all = {}
  for y = 0, size - 1 do
    for x = 0, size - 1 do
      local list = {}
      for i = 1, 8 do
        local tx, ty = x + DX[i], y + DY[i]
        if tx >= 0 and tx < size and ty >= 0 and ty < size then list[#list + 1] = ty * size + tx + 1 end
      end
      all[y * size + x + 1] = list
    end
  end
  return all
end

local LIMIT = 20000

local function tour(size, start, near)
  local visited, path, steps = {}, {}, 0
  local function degree(square)
    local count = 0
    for _, to in ipairs(near[square]) do
      if not visited[to] then count = count + 1 end
    end
    return count
  end
  local function go(square, depth)
    visited[square] = depth
    path[depth] = square
    steps = steps + 1
    if depth == size * size or steps == LIMIT then return true end
    local choices = {}
    for _, to in ipairs(near[square]) do
      if not visited[to] then choices[#choices + 1] = { square = to, degree = degree(to) } end
    end
    table.sort(choices, function(a, b)
      if a.degree ~= b.degree then return a.degree < b.degree end
      return a.square < b.square
    end)
    for _, choice in ipairs(choices) do
      if go(choice.square, depth + 1) then return true end
    end
    visited[square] = nil
    return false
  end
  go(start, 1)
  return path[size * size] or 0, steps
end

local sum = 0
for _ = 1, n do
  for size = 6, 11 do
    local near = neighbours(size)
    -- A tour of a board with an odd number of squares starts on its corners' color, as this diagonal does.
    for start = 1, size * size, size + 1 do
      local last, steps = tour(size, start, near)
      sum = (sum * 31 + last * 7 + steps) % 1000003
    end
  end
end
print("knights " .. n .. " " .. sum)
assert(n ~= 9 or sum == 87320)
