local function permute(a, n)
  n = n or #a
  if n <= 1 then coroutine.yield(a) return end
  for i = 1, n do
    a[n], a[i] = a[i], a[n]
    permute(a, n - 1)
    a[n], a[i] = a[i], a[n]
  end
end
local count = 0
for p in coroutine.wrap(function() permute({ "a", "b", "c", "d" }) end) do
  count = count + 1
  io.write(table.concat(p), count % 8 == 0 and "\n" or " ")
end
print(count)
