local function recurse(n) if n == 0 then return (debug.traceback("deep")) end return (recurse(n - 1)) end
print(recurse(30))
