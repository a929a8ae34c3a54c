-- Queues that move along the keys of a table, with one or two values for each entry, filled in either order.
local function queue_of_pairs(n)
  local queue, head, tail = {1, 1}, 1, 2
  local added, sum = 0, 0
  while head < tail do
    local x, y = queue[head], queue[head + 1]
    queue[head], queue[head + 1] = nil, nil
    head = head + 2
    sum = (sum * 3 + x + y) % 1000003
    for i = 1, 2 do
      if added < n then
        added = added + 1
        queue[tail + 1], queue[tail + 2] = added % 7, added % 11
        tail = tail + 2
      end
    end
  end
  return sum, next(queue)
end

local function queue_from_behind(n)
  local queue, sum = {}, 0
  for i = n, 1, -1 do queue[i] = i end
  for i = 1, n do
    sum = (sum * 3 + queue[i]) % 1000003
    queue[i] = nil
    queue[n + i + 1] = i
  end
  return sum, queue[n], queue[n + 1], queue[n + 2], queue[2 * n + 1]
end

local function in_steps(n, step)
  local queue, sum = {0}, 0
  for i = 1, n do
    queue[1 + i * step] = i
    if i > 8 then
      sum = (sum * 3 + queue[1 + (i - 8) * step]) % 1000003
      queue[1 + (i - 8) * step] = nil
    end
  end
  local left = 0
  for _ in pairs(queue) do left = left + 1 end
  return sum, left, #queue
end

print(queue_of_pairs(10), queue_of_pairs(60000))
print(queue_from_behind(50), queue_from_behind(20000))
print(in_steps(20000, 1), in_steps(20000, 2), in_steps(20000, 3))
