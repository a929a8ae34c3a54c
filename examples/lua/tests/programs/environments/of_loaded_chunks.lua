local chunk = assert(loadstring("a = 1 b = (b or 0) + 1 return a, b, c"))
local env = { c = "seen" }
setfenv(chunk, env)
print(chunk()) print(chunk())
print(env.a, env.b, rawget(_G, "a"))
local sandbox = setmetatable({}, { __index = { print = print, tostring = tostring } })
local program = assert(loadstring("print(tostring(1)) print(os, io, _G)"))
setfenv(program, sandbox)()
local config = {}
setfenv(assert(loadstring("name = 'test' size = { 1, 2 } function twice(n) return n * 2 end")), config)()
print(config.name, #config.size, config.twice(21))
local strict = setmetatable({}, {
  __index = function(_, name) error("undeclared " .. name, 2) end,
  __newindex = function(_, name) error("assigning undeclared " .. name, 2) end,
})
print(pcall(setfenv(assert(loadstring("return nothing", "=strict")), strict)))
print(pcall(setfenv(assert(loadstring("nothing = 1", "=strict")), strict)))
