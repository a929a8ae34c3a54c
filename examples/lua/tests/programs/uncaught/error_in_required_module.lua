package.preload.broken = function() local t = nil return t.x end
print("before")
require("broken")
