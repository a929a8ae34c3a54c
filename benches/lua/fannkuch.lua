-- For each permutation the number of reversals of its front until the first element is one; the greatest, and a checksum.
-- longer: 18
local n = tonumber(arg[1]) or 2

local function fannkuch(size)
  local p, q, counts = {}, {}, {}
  local sign, most, sum = 1, 0, 0
  for i = 1, size do p[i], q[i], counts[i] = i, i, i end
  while true do
    local first = p[1]
    if first ~= 1 then
      for i = 2, size do q[i] = p[i] end
      local flips = 1
      while true do
        local at = q[first]
        if at == 1 then
          sum = sum + sign * flips
          if flips > most then most = flips end
          break
        end
        q[first] = first
        if first >= 4 then
          local low, high = 2, first - 1
          repeat
            q[low], q[high] = q[high], q[low]
            low, high = low + 1, high - 1
          until low >= high
        end
        first = at
        flips = flips + 1
      end
    end
    if sign == 1 then
      p[1], p[2] = p[2], p[1]
      sign = -1
    else
      p[2], p[3] = p[3], p[2]
      sign = 1
      for i = 3, size do
        local count = counts[i]
        if count ~= 1 then
          counts[i] = count - 1
          break
        end
        if i == size then return sum, most end
        counts[i] = i
        local moved = p[1]
        for j = 1, i do p[j] = p[j + 1] end
        p[i + 1] = moved
      end
    end
  end
end

local sum = 0
for _ = 1, n do
  local checksum, most = fannkuch(9)
  sum = sum + checksum * 100 + most
end
print("fannkuch " .. n .. " " .. sum)
assert(n ~= 2 or sum == 1725860)
