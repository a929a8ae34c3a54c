package.path, package.cpath = "./no/?.lua;./no/?/init.lua", "./no/?.so"
local ok, message = pcall(require, "absent.module")
print(ok)
print(message)
table.insert(package.loaders, 2, function(name)
  if name == "virtual" then return function(...) return "made for " .. ... end end
  return "\n\tnot virtual"
end)
print(require("virtual"))
print(select(2, pcall(require, "other")))
package.loaders = nil
print(pcall(require, "more"))
