local print, _G, assert, package = print, _G, assert, package
module("mine", package.seeall)
value = 10
function get() return value end
print(_NAME, _M == _G.mine, _PACKAGE == "", _G.mine.value, get())
print(package.loaded.mine == _M, _G.value)
module("a.b.c")
print(_NAME, _PACKAGE, _G.a.b.c == _M)
inner = 1
print(_G.a.b.c.inner, package.loaded["a.b.c"] == _M)
_G.setfenv(1, _G)
print(pcall(module, "print"))
print(pcall(module))
print(require("mine").get())
