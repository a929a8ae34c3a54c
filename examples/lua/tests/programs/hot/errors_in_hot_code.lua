local function check(i) if i % 1000 == 0 then error("at " .. i, 0) end return i end
local ok, bad, last = 0, 0, nil
for i = 1, 20000 do
  local success, e = pcall(check, i)
  if success then ok = ok + 1 else bad = bad + 1 last = e end
end
print(ok, bad, last)
local function risky(t, i) return t[i].value end
local t = {}
for i = 1, 20000 do t[i] = i % 777 ~= 0 and { value = i } or nil end
local sum, faults, message = 0, 0, nil
for i = 1, 20000 do
  local success, v = pcall(risky, t, i)
  if success then sum = sum + v else faults = faults + 1 message = v end
end
print(sum, faults, message)
local function loops()
  local s = 0
  for i = 1, 100000 do
    s = s + i
    if i == 54321 then local x = nil s = s + x end
  end
  return s
end
print(pcall(loops))
local function wrong(a) for i = 1, 30000 do if i == 29999 then return a.b.c end end end
print(pcall(wrong, {}))
print(pcall(wrong, { b = { c = "found" } }))
print(pcall(wrong, nil))
