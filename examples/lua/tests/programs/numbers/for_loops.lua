local function loop(...)
  local from, to, step = ...
  local list = {}
  if select("#", ...) == 2 then
    for i = from, to do
      list[#list + 1] = i
      if #list >= 8 then list[#list + 1] = "..." break end
    end
  else
    for i = from, to, step do
      list[#list + 1] = i
      if #list >= 8 then list[#list + 1] = "..." break end
    end
  end
  print(from, to, step, "->", table.concat(list, " "))
end
loop(1, 5) loop(5, 1) loop(1, 1) loop(0, 0)
loop(1, 10, 3) loop(10, 1, -3) loop(1, 10, -1) loop(10, 1, 1)
loop(0, 1, 0.25) loop(1, 0, -0.25) loop(0.5, 3.2) loop(-1.5, 1.5)
loop(1, 3, 0.9) loop(1, 1 / 0) loop(-3, -1) loop(-1, -3, -1)
loop(2 ^ 53 - 1, 2 ^ 53) loop("1", "3") loop("1", 3, "2")
loop(0, 0.3, 0.1)
