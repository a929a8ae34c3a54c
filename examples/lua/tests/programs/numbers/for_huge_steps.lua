-- The loop begins at the start less the step plus the step, which is not the start if the step is huge.
local function loop(from, to, step)
  local list = {}
  for i = from, to, step do
    list[#list + 1] = i
    if #list >= 4 then break end
  end
  print(table.concat(list, " "))
end
loop(1, 1 / 0, 1e308) loop(1, -1 / 0, -1e308) loop(1, 2, 1e300) loop(1, 2, 2 ^ 53) loop(0.1, 1, 1e15)
