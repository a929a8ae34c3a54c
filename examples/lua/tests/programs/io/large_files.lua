local name = os.tmpname()
local file = assert(io.open(name, "w"))
for i = 1, 5000 do file:write("line number ", i, "\n") end
file:close()
local count, sum = 0, 0
for line in io.lines(name) do
  count = count + 1
  sum = sum + tonumber(line:match("%d+$"))
end
print(count, sum)
file = io.open(name)
local text = file:read("*a")
print(#text, select(2, text:gsub("\n", "")))
file:seek("set")
local blocks, size = 0, 0
while true do
  local block = file:read(4096)
  if not block then break end
  blocks, size = blocks + 1, size + #block
end
print(blocks, size)
file:close()
local long = ("x"):rep(100000)
file = io.open(name, "w") file:write(long, "\n", "end") file:close()
file = io.open(name)
print(#file:read("*l"), file:read("*l"))
file:close()
os.remove(name)
