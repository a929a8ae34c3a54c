function run(n)
  local size = 10000
  local flags = {}
  local count = 0
  for round = 1, n do
    for i = 1, size do
      flags[i] = true
    end
    count = 0
    for i = 2, size do
      if flags[i] then
        count = count + 1
        for k = i + i, size, i do
          flags[k] = false
        end
      end
    end
  end
  return count
end
