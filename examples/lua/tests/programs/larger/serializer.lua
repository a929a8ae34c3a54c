local function serialize(value)
  local out, seen, later = {}, {}, {}
  local names = 0
  local function key_text(key)
    if type(key) == "string" and key:match("^[%a_][%w_]*$") then return "." .. key end
    return "[" .. (type(key) == "string" and ("%q"):format(key) or tostring(key)) .. "]"
  end
  local function simple(v) return type(v) == "string" and ("%q"):format(v):gsub("\n", "n") or tostring(v) end
  local function write(name, v)
    if type(v) ~= "table" then out[#out + 1] = name .. " = " .. simple(v) return end
    if seen[v] then out[#out + 1] = name .. " = " .. seen[v] return end
    seen[v] = name
    out[#out + 1] = name .. " = {}"
    local keys = {}
    for key in pairs(v) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
      if type(a) == type(b) and type(a) ~= "boolean" then return a < b end
      return tostring(a) < tostring(b)
    end)
    for _, key in ipairs(keys) do write(name .. key_text(key), v[key]) end
  end
  write("root", value)
  return table.concat(out, "\n")
end
local shared = { 1, 2 }
local data = { name = "data", list = { "a", "b", { deep = true } }, ["odd key"] = 1.5, [10] = "ten", first = shared, second = shared }
data.self = data
data.list.parent = data
local text = serialize(data)
print(text)
local env = {}
setfenv(assert(loadstring(text)), env)()
local root = env.root
print(root.self == root, root.first == root.second, root.list[3].deep, root["odd key"], root[10], root.list.parent == root)
print(serialize(root) == text)
print(serialize(5), serialize("text\nof two lines"), serialize({}))
