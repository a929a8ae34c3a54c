local function sandbox(code, extra)
  local env = { print = print, pairs = pairs, tostring = tostring, string = { upper = string.upper } }
  for k, v in pairs(extra or {}) do env[k] = v end
  env._G = env
  local f, e = loadstring(code, "=sandbox")
  if not f then return nil, e end
  setfenv(f, env)
  local results = { pcall(f) }
  return unpack(results, 1, 4)
end
print(sandbox("x = 1 return x, _G.x"))
print(x)
print(sandbox("return os"))
print(sandbox("return os.exit()"))
print(sandbox("return ('x'):rep(3)"))
print(sandbox("return string.rep('x', 3)"))
print(sandbox("return getmetatable('').__index"))
print(sandbox("return = 1"))
print(sandbox("return limit * 2", { limit = 21 }))
print(sandbox("function f(n) if n == 0 then return 0 end return n + f(n - 1) end return f(10)"))
print(sandbox("local t = {} for k in pairs(_G) do t[#t + 1] = tostring(k) end return #t"))
local counter = setmetatable({ n = 0 }, { __index = function(t, k) t.n = t.n + 1 return _G[k] end })
setfenv(loadstring("local a, b, c = print, tostring, type"), counter)()
print(counter.n)
