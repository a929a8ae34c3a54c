local function add(a, b) return a + b end
local code = string.dump(add)
print(type(code), code:sub(2, 4))
local again = assert(loadstring(code))
print(again(2, 3))
local counter = 5
local function reads() return counter end
local copy = assert(loadstring(string.dump(reads)))
print(pcall(copy))
print(pcall(string.dump, print))
print(pcall(string.dump))
print(pcall(string.dump, "x"))
print(assert(loadstring(string.dump(assert(loadstring("local a, b = ... return b, a")))))(1, 2))
