local function sieve(n)
  local flags, count = {}, 0
  for i = 2, n do flags[i] = true end
  for i = 2, n do
    if flags[i] then
      count = count + 1
      for j = i + i, n, i do flags[j] = false end
    end
  end
  return count
end
print(sieve(10), sieve(100), sieve(20000))
local function multiply(n)
  local a, b, c = {}, {}, {}
  for i = 1, n do
    a[i], b[i], c[i] = {}, {}, {}
    for j = 1, n do a[i][j] = i + j b[i][j] = i - j end
  end
  for i = 1, n do
    local ci, ai = c[i], a[i]
    for j = 1, n do
      local s = 0
      for k = 1, n do s = s + ai[k] * b[k][j] end
      ci[j] = s
    end
  end
  local trace = 0
  for i = 1, n do trace = trace + c[i][i] end
  return trace, c[1][n], c[n][1]
end
print(multiply(10)) print(multiply(50))
local function fannkuch(n)
  local p, q, s, sign, maxflips, sum = {}, {}, {}, 1, 0, 0
  for i = 1, n do p[i] = i q[i] = i s[i] = i end
  repeat
    local q0 = p[1]
    if q0 ~= 1 then
      for i = 2, n do q[i] = p[i] end
      local flips = 1
      while true do
        local qq = q[q0]
        if qq == 1 then sum = sum + sign * flips if flips > maxflips then maxflips = flips end break end
        q[q0] = q0
        if q0 >= 4 then
          local i, j = 2, q0 - 1
          repeat q[i], q[j] = q[j], q[i] i = i + 1 j = j - 1 until i >= j
        end
        q0 = qq flips = flips + 1
      end
    end
    if sign == 1 then p[1], p[2] = p[2], p[1] sign = -1
    else
      p[2], p[3] = p[3], p[2] sign = 1
      for i = 3, n do
        local sx = s[i]
        if sx ~= 1 then s[i] = sx - 1 break end
        if i == n then return sum, maxflips end
        s[i] = i
        local t = p[1] for j = 1, i do p[j] = p[j + 1] end p[i + 1] = t
      end
    end
  until false
end
print(fannkuch(7))
