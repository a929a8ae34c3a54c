local name = os.tmpname()
local function numbers(text)
  local file = io.open(name, "w") file:write(text) file:close()
  file = io.open(name)
  local list = {}
  while true do
    local n = file:read("*n")
    if not n then break end
    list[#list + 1] = n
  end
  local rest = file:read("*a")
  file:close()
  print(table.concat(list, " "), rest)
end
numbers("1 2 3") numbers("1\n2\t3\n") numbers("1.5e3-7+8") numbers("12abc") numbers("") numbers("x")
numbers(".5 5.") numbers("  42  ")
os.remove(name)
