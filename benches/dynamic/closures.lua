local function counter(start)
  local count = start
  return function(step)
    count = count + step
    return count
  end
end

function run(n)
  local total = 0
  for i = 1, n do
    local next = counter(i)
    for j = 1, 5 do
      total = total + next(j)
    end
  end
  return total
end
