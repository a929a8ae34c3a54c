local folder = os.tmpname()
os.remove(folder)
local name = folder:gsub("[^%w]", "_"):sub(-8) .. "mod"
local path = folder .. name .. ".lua"
local file = assert(io.open(path, "w"))
file:write("local name = ... local M = { name = name == '" .. name .. "', loads = (LOADS or 0) + 1 } LOADS = M.loads return M")
file:close()
package.path = folder .. "?.lua"
local m = require(name)
print(m.name, m.loads, require(name) == m, LOADS)
package.loaded[name] = nil
print(require(name).loads)
file = assert(io.open(path, "w"))
file:write("return = 1")
file:close()
package.loaded[name] = nil
local ok, message = pcall(require, name)
print(ok, (message:gsub("module '.-'", "module 'NAME'"):gsub("from file '.-'", "from file 'FILE'"):gsub("\t.-:1:", "\tFILE:1:")))
os.remove(path)
package.preload.first = function() return { other = require("second") } end
package.preload.second = function() return { other = require("first") } end
ok, message = pcall(require, "first")
print(ok, message)
