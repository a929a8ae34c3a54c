-- Where modules are looked for, and what is said of those that are not found.
print(type(package.cpath), package.cpath)
print((package.path:gsub("^%./%?%.lua;", "")))
print(package.config)
print(type(package.loadlib))
print(pcall(package.loadlib))
print(pcall(package.loadlib, "x"))
print(pcall(package.loadlib, {}, 1))
print(#package.loaders)
print(pcall(require, "nope"))
print(pcall(require, "nope.sub.x"))
for i, l in ipairs(package.loaders) do print(i, pcall(l, "nope.sub")) end
for i, l in ipairs(package.loaders) do print(i, pcall(l)) end
for i, l in ipairs(package.loaders) do print(i, pcall(l, "nope")) end
package.cpath = "./?.so;./x/?.so"
package.path = "./?.lua"
print(pcall(require, "nope"))
print(pcall(require, "nope.sub"))
package.cpath = nil
print(pcall(require, "nope"))
package.cpath = 5
print(pcall(require, "nope"))
package.cpath = ""
print(pcall(require, "nope"))
package.cpath = "./?.so"
package.path = nil
print(pcall(require, "nope"))
package.path = "./?.lua"
package.loaders = nil
print(pcall(require, "nope"))
package.loaders = {}
print(pcall(require, "nope"))
package.loaders = {function() end, function() return "\n\tmine" end, function() return 5 end, function() return {} end}
print(pcall(require, "nope"))
package.preload = nil
