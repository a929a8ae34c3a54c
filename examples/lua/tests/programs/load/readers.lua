-- What the functions that give `load` its text may do, and how often they are asked.
local shown = print
local function print(...)
  local all = { n = select("#", ...), ... }
  for i = 1, all.n do if type(all[i]) == "function" then all[i] = "a function" end end
  shown(unpack(all, 1, all.n))
end
local function try(name, f, ...) print(name, pcall(load, f, ...)) end
local n
local function counted(list, endless) n = 0 return function(...) n = n + 1 if select('#', ...) ~= 0 then print("args", ...) end return list[n] end end
local function run(name, list)
  local ok, f, e = pcall(load, counted(list))
  print(name, ok, type(f) == "function" and "function" or f, e, "calls", n)
  if type(f) == "function" then print(pcall(f)) end
end
run("empty", {})
run("empty string", {""})
run("one", {"return 1"})
run("more", {"return ", "1", " + 2"})
run("stops at empty", {"return 1", "", " + 2"})
run("comment", {"-- x"})
run("string", {"return 'a", "b'"})
run("numbers", {"return ", 1, 2})
run("number only", {5})
run("table", {"return ", {}})
run("true", {true})
run("false", {false})
run("syntax error early", {"x = = 1", " y", "z"})
run("syntax error early 2", {"x ", "= = 1 ", " y ", "z "})
run("unfinished", {"return 'a"})
run("unfinished comment", {"--[[ x"})
run("bom", {"#!/bin/lua\nreturn 5"})
try("error", function() error("oops") end)
try("error0", function() error("oops", 0) end)
try("late error", (function() local k = 0 return function() k = k + 1 if k == 2 then error("late") end return "x = 1 " end end)())
try("chunkname", function() return nil end, "=name")
print(load((function() local d return function() if d then return end d = true return "x x" end end)(), "=name"))
print(load((function() local d return function() if d then return end d = true return "x x" end end)(), "@name"))
print(load((function() local d return function() if d then return end d = true return "x x" end end)(), "name"))
print(load((function() local d return function() if d then return end d = true return "x x" end end)()))
print(load((function() local d return function() if d then return end d = true return "error'x'" end end)()))
print(pcall(load, "return 1"))
print(pcall(load))
print(pcall(load, 1))
print(pcall(load, nil))
print(pcall(load, print))
print(pcall(load, function() end, {}))
print(pcall(load, function() end, nil))
print(pcall(load, function() end, 5))
local co = coroutine.wrap(function() return load(function() coroutine.yield(1) return nil end) end)
print(co())
print(pcall(co))
-- level of load
load(function() print(debug.getinfo(2,"n").name, debug.getinfo(2, "S").what) end)
-- binary
d = string.dump(function() return 42 end)
local at = 0
local f = load(function() at = at + 1 if at <= #d then return d:sub(at, at) end end)
print(f())
local at = 0
local f = load(function() at = at + 1 if at == 1 then return d end end)
print(f())
print(load(function() return d:sub(1, 10) and nil end))
local at = 0
print(pcall(load, function() at = at + 1 if at == 1 then return d:sub(1, 20) end end, "=bin"))
print(pcall(loadstring, d:sub(1, 20), "=bin"))
-- environment
print(getfenv(load(function() end)) == _G)
-- reader that loads
local x = load(function() load(function() end) end)
print(type(x))
-- more results
local k = 0
print(load(function() k = k + 1 if k == 1 then return "return 7", "ignored" end end)())
-- callable table as reader
print(pcall(load, setmetatable({}, {__call = function() return nil end})))
print(xpcall(function() return load(function() error("in reader") end) end, debug.traceback))
local depth = 0
print(pcall(load, coroutine.wrap(function() coroutine.yield("return ") coroutine.yield("8") end)))
print(load(function() return nil end, ("long name "):rep(20)))
print(load(function() local y = k k = k + 1 if k < 5 then return "x y z" end end, ("long name "):rep(20)))
print(xpcall(function() return load(function() return {} end) end, function(m) return "H:"..tostring(m) end))
print(xpcall(function() return load(function() return "x x" end) end, function(m) return "H:"..tostring(m) end))
do
local k = 0
print(load(function() k = k + 1 return "x y " end), k)
k = 0
print(load(function() k = k + 1 return "return 'a\n" end))
print(k)
for _, text in ipairs { "x = ;", "x = 5 5", "return 1;", "return 1", "return 'a'", "x = [[a]]", "--c\n", "f()", "x=.5", "x=5..6", "x='\\", "x='a\\065", "x=[==", "--[==", "--[=[x]=]", "x~", "x=1 --", "x.", "goto", "x = {1,2,", "x = {a =", "if x then", "\27", "\27Lua", "=", "x = 0x", "x = 1e", "[[", "]]", "x = \"a\nb\"", "x\0", "#", "# x\n", "x = 'a\\", "--[[a]", "x=[[a]", "x=[=[ ]]]=" } do
  for _, whole in ipairs { true, false } do
    local n, at = 0, 0
    local f, e = load(function() n = n + 1 if whole then if n == 1 then return text end return nil end at = at + 1 if at <= #text then return text:sub(at, at) end end, "=c")
    print(("%q"):format(text), whole, f and "ok", e, n)
  end
end
end
