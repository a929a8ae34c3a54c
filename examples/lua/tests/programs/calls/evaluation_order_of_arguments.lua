local log = {}
local function say(x) log[#log + 1] = tostring(x) return x end
local function f() end
f(say(1), say(2), say(3))
local t = { say("a"), say("b"), x = say("c"), say("d") }
say("k")
local _ = say(10) + say(20) * say(30)
_ = say("l") .. say("m") .. say("n")
_ = say(false) and say("skipped") or say("or")
_ = (say(1) < say(2)) == (say(3) > say(4))
print(table.concat(log, " "))
