local Exception = {}
Exception.__index = Exception
Exception.__tostring = function(e) return e.class .. ": " .. e.message end
local function throw(class, message) error(setmetatable({ class = class, message = message }, Exception), 2) end
local function try(block)
  local ok, e = pcall(block[1])
  if not ok then
    local class = type(e) == "table" and getmetatable(e) == Exception and e.class or "any"
    local handler = block[class] or block.any
    if handler then handler(e) else error(e, 0) end
  end
  if block.finally then block.finally() end
end
try { function() throw("IO", "disk full") end, IO = function(e) print("IO handler", tostring(e)) end, finally = function() print("finally") end }
try { function() local x = nil + 1 end, any = function(e) print("any handler", e) end }
print(pcall(try, { function() throw("Net", "down") end, IO = print }) == false)
local ok, e = pcall(try, { function() throw("Net", "down") end })
print(ok, tostring(e), e.class)
try { function() print("no error") end, any = print, finally = function() print("still finally") end }
