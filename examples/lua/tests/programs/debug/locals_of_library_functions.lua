-- Functions of the library have their arguments as nameless variables.
local function P(...)
  local all = { n = select("#", ...), ... }
  for i = 1, all.n do if type(all[i]) == "function" then all[i] = "a function" end end
  print(unpack(all, 1, all.n))
end
P("gl1", pcall(debug.getlocal, 0, 1))
P("gl2", pcall(debug.getlocal, 0, 2))
P("gl3", pcall(debug.getlocal, 0, 3))
P("gl4", debug.getlocal(0, 1))
P("gl5", debug.getlocal(0, 2))
P("gl6", debug.getlocal(0, 3))
P("gl7", pcall(debug.getlocal, 50, 1))
P("gl8", pcall(debug.getlocal, -1, 1))
P("gl9", pcall(debug.getlocal, "x", 1))
P("gl10", pcall(debug.getlocal, 1))
P("gl11", pcall(debug.getlocal, print, 1))
P("gl13", pcall(debug.setlocal, 0, 1))
P("gl14", pcall(debug.setlocal, 50, 1, 5))
do local a, b = 10, 20 P("gl15", debug.getlocal(1, 1)) end
