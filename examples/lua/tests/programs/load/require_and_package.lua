package.preload.simple = function(name) return { name = name, count = 0 } end
local simple = require("simple")
print(simple.name, require("simple") == simple, package.loaded.simple == simple)
package.preload.nothing = function() end
print(require("nothing"), package.loaded.nothing)
package.preload.falsy = function() return false end
print(require("falsy"), package.loaded.falsy)
package.preload.sets = function(name) package.loaded[name] = "set by the loader" end
print(require("sets"))
package.preload.fails = function() error("loader fails", 0) end
print(pcall(require, "fails"))
package.loaded.given = "given"
print(require("given"))
print(require("string") == string, package.loaded._G == _G, package.loaded.math == math)
print(type(package.path), type(package.cpath), type(package.config), #package.loaders)
print(package.config:sub(1, 1))
package.loaded.simple = nil
print(require("simple") == simple)
print(pcall(require))
print(pcall(require, {}))
