local function f() return f() + 1 end
print(select(2, pcall(f)):find("stack overflow", 1, true) ~= nil)
error("after the overflow")
