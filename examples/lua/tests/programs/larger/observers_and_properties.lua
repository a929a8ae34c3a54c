local function observable(fields)
  local values, observers = {}, {}
  for key, value in pairs(fields) do values[key] = value end
  local object = {}
  function object:watch(key, f)
    observers[key] = observers[key] or {}
    table.insert(observers[key], f)
    return function() for i, g in ipairs(observers[key]) do if g == f then table.remove(observers[key], i) break end end end
  end
  return setmetatable(object, {
    __index = values,
    __newindex = function(_, key, value)
      local old = values[key]
      if old == value then return end
      values[key] = value
      for _, f in ipairs(observers[key] or {}) do f(value, old) end
      for _, f in ipairs(observers["*"] or {}) do f(key, value, old) end
    end,
  })
end
local log = {}
local point = observable({ x = 1, y = 2 })
local stop = point:watch("x", function(new, old) log[#log + 1] = "x " .. tostring(old) .. "->" .. tostring(new) end)
point:watch("*", function(key, new) log[#log + 1] = key .. "=" .. tostring(new) end)
point.x = 5 point.x = 5 point.y = 7 point.z = 1 point.z = nil
stop()
point.x = 9
print(table.concat(log, "; "))
local computed = setmetatable({ celsius = 20 }, {
  __index = function(t, key) if key == "fahrenheit" then return t.celsius * 9 / 5 + 32 end end,
  __newindex = function(t, key, value)
    if key == "fahrenheit" then t.celsius = (value - 32) * 5 / 9 else rawset(t, key, value) end
  end,
})
print(computed.fahrenheit, computed.kelvin)
computed.fahrenheit = 212
print(computed.celsius, rawget(computed, "fahrenheit"))
local function typed(types)
  return function(initial)
    local store = {}
    local t = setmetatable({}, { __index = store, __newindex = function(_, key, value)
      local wanted = types[key] or error("no field " .. key, 2)
      if type(value) ~= wanted then error(("%s must be a %s, not a %s"):format(key, wanted, type(value)), 2) end
      store[key] = value
    end })
    for key, value in pairs(initial) do t[key] = value end
    return t
  end
end
local Person = typed({ name = "string", age = "number" })
local p = Person({ name = "Ann", age = 30 })
p.age = p.age + 1
print(p.name, p.age)
print(pcall(function() p.age = "old" end))
print(pcall(function() p.height = 180 end))
print(pcall(Person, { name = 5 }))
