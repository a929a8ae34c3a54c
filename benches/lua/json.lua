-- Writes and reads JSON: a document of nested tables goes to a string and back, some times.
-- longer: 900
local n = tonumber(arg[1]) or 110

local byte, find, format, sub = string.byte, string.find, string.format, string.sub

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }
local UNESCAPES = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", n = "\n", t = "\t", r = "\r" }

local function write_string(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ESCAPES[c] or format("\\u%04x", byte(c)) end) .. '"'
end

local write

local writers = {
  ["nil"] = function() return "null" end,
  boolean = tostring,
  number = function(value) return format("%.14g", value) end,
  string = write_string,
  table = function(value, out)
    if value[1] ~= nil then
      out[#out + 1] = "["
      for i, item in ipairs(value) do
        if i > 1 then out[#out + 1] = "," end
        write(item, out)
      end
      out[#out + 1] = "]"
      return nil
    end
    -- The keys are sorted, so that the text is always the same.
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys)
    out[#out + 1] = "{"
    for i, key in ipairs(keys) do
      if i > 1 then out[#out + 1] = "," end
      out[#out + 1] = write_string(key)
      out[#out + 1] = ":"
      write(value[key], out)
    end
    out[#out + 1] = "}"
    return nil
  end,
}

function write(value, out)
  local text = writers[type(value)](value, out)
  if text then out[#out + 1] = text end
end

local function encode(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

local read

local function blank(text, at)
  return find(text, "[^ \n\r\t]", at) or #text + 1
end

local function read_string(text, at)
  local parts, start = {}, at + 1
  while true do
    local stop = find(text, '["\\]', start)
    if not stop then error("the string has no end") end
    parts[#parts + 1] = sub(text, start, stop - 1)
    if byte(text, stop) == 34 then return table.concat(parts), stop + 1 end
    local c = sub(text, stop + 1, stop + 1)
    if c == "u" then
      parts[#parts + 1] = string.char(tonumber(sub(text, stop + 2, stop + 5), 16))
      start = stop + 6
    else
      parts[#parts + 1] = UNESCAPES[c]
      start = stop + 2
    end
  end
end

local WORDS = { t = { "true", true }, f = { "false", false }, n = { "null", nil } }

function read(text, at)
  at = blank(text, at)
  local c = sub(text, at, at)
  if c == '"' then
    return read_string(text, at)
  elseif c == "[" then
    local list = {}
    at = blank(text, at + 1)
    if sub(text, at, at) == "]" then return list, at + 1 end
    while true do
      list[#list + 1], at = read(text, at)
      at = blank(text, at)
      if sub(text, at, at) == "]" then return list, at + 1 end
      at = at + 1
    end
  elseif c == "{" then
    local map = {}
    at = blank(text, at + 1)
    if sub(text, at, at) == "}" then return map, at + 1 end
    while true do
      local key
      key, at = read_string(text, blank(text, at))
      at = blank(text, at)
      map[key], at = read(text, at + 1)
      at = blank(text, at)
      if sub(text, at, at) == "}" then return map, at + 1 end
      at = blank(text, at + 1)
    end
  elseif WORDS[c] then
    return WORDS[c][2], at + #WORDS[c][1]
  end
  local first, last = find(text, "^-?%d+%.?%d*[eE]?[-+]?%d*", at)
  if not first then error("not JSON at " .. at) end
  return tonumber(sub(text, first, last)), last + 1
end

local function document(count)
  local people = {}
  for i = 1, count do
    people[i] = {
      id = i, name = "person " .. i, balance = i * 1.25, active = i % 3 == 0, tags = { "a" .. i % 7, "b\n" .. i % 5, "c" },
      place = { street = "street \"" .. i % 11 .. "\"", number = i % 100, at = { i / 8, -i / 16 } },
    }
  end
  return { people = people, title = "people", version = 3 }
end

local value, sum = document(150), 0
for round = 1, n do
  local text = encode(value)
  value = read(text, 1)
  value.version = round
  for i = 1, #text, 37 do sum = (sum * 3 + byte(text, i)) % 1000003 end
end
print("json " .. n .. " " .. sum)
assert(n ~= 110 or sum == 586404)
