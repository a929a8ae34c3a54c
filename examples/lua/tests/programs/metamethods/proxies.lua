local function track(t)
  local log = {}
  local proxy = setmetatable({}, {
    __index = function(_, k) log[#log + 1] = "get " .. tostring(k) return t[k] end,
    __newindex = function(_, k, v) log[#log + 1] = "set " .. tostring(k) t[k] = v end,
  })
  return proxy, log
end
local p, log = track({ 1, 2, 3, name = "original" })
p.name = p.name .. " changed"
p[4] = p[1] + p[2]
local _ = p.absent
print(table.concat(log, ", "))
print(p.name, p[4], #p, next(p))
local defaults = setmetatable({}, { __index = function(t, k) local v = k * k rawset(t, k, v) return v end })
print(defaults[5], defaults[5], rawget(defaults, 5), rawget(defaults, 6))
local strict = setmetatable({}, { __index = function(_, k) error("no field " .. k, 2) end })
print(pcall(function() return strict.oops end))
