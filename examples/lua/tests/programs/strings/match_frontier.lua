-- The frontier pattern works in Lua 5.1, though the manual says nothing of it.
print(("THE (quick) fox"):find("%f[%a]%a+%f[%A]"))
print(("THE (quick) fox"):gsub("%f[%a]%a+", string.lower))
print(("hello world"):gsub("%f[%w]%w", string.upper))
print(("x"):find("%f[%z]"), (""):find("%f[%z]"))
print(("aba"):find("%f[b]"), ("bbb"):find("%f[b]", 2))
print(pcall(string.match, "x", "%f"))
print(pcall(string.match, "x", "%fa"))
