local function loop(n) if n == 0 then return "end" end if n % 1000 == 0 then coroutine.yield(n) end return loop(n - 1) end
local seen = {}
local co = coroutine.create(loop)
local ok, v = coroutine.resume(co, 5000)
while coroutine.status(co) ~= "dead" do seen[#seen + 1] = v ok, v = coroutine.resume(co) end
print(table.concat(seen, " "), v)
local function recurse(n) if n == 0 then coroutine.yield("at the bottom") return 0 end return 1 + recurse(n - 1) end
local wrapped = coroutine.wrap(recurse)
print(wrapped(3000))
print(wrapped())
local function over() return 1 + over() end
ok, v = coroutine.resume(coroutine.create(over))
print(ok, v:find("stack overflow", 1, true) ~= nil)
local function tail() return coroutine.yield("tail yield") end
local t = coroutine.wrap(tail)
print(t(), t("a", "b"))
