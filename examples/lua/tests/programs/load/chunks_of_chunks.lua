local results = {}
for i = 1, 5 do
  local f = assert(loadstring(("local n = ... ; return function(m) return n * m + %d end"):format(i)))
  results[i] = f(i)(10)
end
print(table.concat(results, " "))
print(loadstring("return loadstring('return loadstring([[return 7]])()')()")())
local quine = [[local q = %q return (q:format(q))]]
local text = quine:format(quine)
print(loadstring(text)() == text)
local env = { value = 1 }
local outer = setfenv(assert(loadstring("return loadstring and 'has it' or 'has not', value")), env)
print(outer())
local f = assert(loadstring("return debug and debug.getinfo(1, 'S').source, debug.getinfo(1, 'S').short_src", "=(custom)"))
print(f())
print(pcall(assert(loadstring("local a\nlocal b = a.c", "@virtual.lua"))))
print(pcall(assert(loadstring("error('here')", "first line\nsecond"))))
print(pcall(assert(loadstring("error('level two', 2)", "=lev"))))
for _, name in ipairs({ "=", "@", "", "=a", "@b", "c" }) do print(pcall(assert(loadstring("error('x')", name)))) end
