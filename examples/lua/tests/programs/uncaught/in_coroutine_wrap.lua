coroutine.wrap(function() local x = nil; x() end)()
