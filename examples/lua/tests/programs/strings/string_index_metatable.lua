local meta = getmetatable("")
local old = meta.__index
meta.__index = function(text, key)
  if type(key) == "number" then return old.sub(text, key, key) end
  return old[key]
end
local s = "hello"
print(s[1], s[5], s[6] == "", s[-1], s:upper())
meta.__call = function(text, ...) return text .. "(" .. table.concat({ ... }, ",") .. ")" end
print(s(1, 2, 3))
meta.__add = function(a, b) return "sum of " .. a .. " and " .. b end
print("a" + "b", "1" + "2", "a" + 1)
meta.__unm = function(a) return a:reverse() end
print(-"abc", -"12")
meta.__index, meta.__call, meta.__add, meta.__unm = old, nil, nil, nil
print(pcall(function() return s(1) end))
