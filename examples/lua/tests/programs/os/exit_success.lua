local co = coroutine.wrap(function() pcall(function() print("inside") os.exit() end) end)
co()
print("never")
