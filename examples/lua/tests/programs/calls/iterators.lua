local function range(n, m, step)
  step = step or 1
  return function(_, i) i = i + step if i <= m then return i end end, nil, n - step
end
for i in range(1, 5) do io.write(i, " ") end
for i in range(0, 10, 5) do io.write(i, " ") end
print()
local function chars(s) local i = 0 return function() i = i + 1 if i <= #s then return i, s:sub(i, i) end end end
for i, c in chars("abc") do io.write(i, c, " ") end
print()
local function stateless(t, i) i = i + 1 if t[i] then return i, t[i], t[i] * 2 end end
for i, v, w, missing in stateless, { 5, 6 }, 0 do io.write(i, v, w, tostring(missing), " ") end
print()
local function sorted(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  local i = 0
  return function() i = i + 1 if keys[i] ~= nil then return keys[i], t[keys[i]] end end
end
for k, v in sorted({ b = 2, a = 1, c = 3 }) do io.write(k, v, " ") end
print()
for a in function() return nil end do print("never") end
for a in function() return false end do print("false is a value", a) break end
local f, s, v = ipairs({ "x" })
for i, x in f, s, v do print(i, x) end
local list = { n = 0 }
for k in function(state, last) return (last or 0) < 3 and (last or 0) + 1 or nil end do list.n = list.n + k end
print(list.n)
