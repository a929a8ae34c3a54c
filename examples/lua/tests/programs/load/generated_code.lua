local function compile(expression, ...)
  return assert(loadstring("local " .. table.concat({ ... }, ", ") .. " = ... return " .. expression, "=" .. expression))
end
print(compile("a + b * 2", "a", "b")(1, 2), compile("#s", "s")("four"))
print(pcall(compile, "a +", "a"))
print(pcall(compile("a.b.c", "a"), {}))
local cache = {}
local function unrolled(n)
  if cache[n] then return cache[n] end
  local lines = { "local t = ... local s = 0" }
  for i = 1, n do lines[#lines + 1] = "s = s + t[" .. i .. "]" end
  lines[#lines + 1] = "return s"
  cache[n] = assert(loadstring(table.concat(lines, "\n")))
  return cache[n]
end
local t = {}
for i = 1, 50 do t[i] = i end
print(unrolled(10)(t), unrolled(50)(t), unrolled(10) == unrolled(10))
local template = ("hello ${name}, ${1 + 1}!"):gsub("${(.-)}", function(e) return "]] .. (" .. e .. ") .. [[" end)
name = "world"
print(loadstring("return [[" .. template .. "]]")())
