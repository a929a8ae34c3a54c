-- A hook without events is there for `gethook`.
local function P(...)
  local all = { n = select("#", ...), ... }
  for i = 1, all.n do if type(all[i]) == "function" then all[i] = "a function" end end
  print(unpack(all, 1, all.n))
end
P("sh1", pcall(debug.sethook, print, "", 0))
P("sh2", debug.gethook())
P("sh3", pcall(debug.sethook, print, "x", 0))
P("sh4", debug.gethook())
P("sh5", pcall(debug.sethook, nil, 5))
P("sh6", pcall(debug.sethook, print))
P("sh7", pcall(debug.sethook, 5, "c"))
P("sh8", pcall(debug.sethook, function() end, "", -5))
P("sh9", (debug.gethook()) == nil, select(2, debug.gethook()))
P("sh10", pcall(debug.sethook, function() end, "", 1e6))
P("sh11", type(debug.gethook()), select(2, debug.gethook()))
debug.sethook()
P("sh12", debug.gethook())
P("sh13", pcall(debug.sethook, print, "crlx", {}))
P("sh14", pcall(debug.sethook, print, {}, 1))
