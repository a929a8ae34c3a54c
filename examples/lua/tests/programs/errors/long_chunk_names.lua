-- Names of chunks are cut: at 60 characters where code runs, at 80 where it is wrong.
for n = 20, 90, 7 do
  local behind = " --" .. ("z"):rep(n)
  local fails = assert(loadstring("local a = nil; a.b = 1" .. behind))
  print(select(2, pcall(fails)))
  print(debug.getinfo(fails, "S").short_src)
  print(select(2, loadstring("x x" .. behind)))
  for _, sign in ipairs { "@", "=" } do
    local named = assert(loadstring("error('it')", sign .. ("n"):rep(n)))
    print(select(2, pcall(named)))
    print(select(2, loadstring("x x", sign .. ("n"):rep(n))))
  end
end
