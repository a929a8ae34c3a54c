-- Writes and reads JSON.
local json = {}
local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }
local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end
function json.encode(value)
  local kind = type(value)
  if kind == "nil" then return "null"
  elseif kind == "boolean" then return tostring(value)
  elseif kind == "number" then return ("%.14g"):format(value)
  elseif kind == "string" then return quote(value)
  elseif kind == "table" then
    local parts = {}
    if #value > 0 or next(value) == nil then
      for i = 1, #value do parts[i] = json.encode(value[i]) end
      return "[" .. table.concat(parts, ",") .. "]"
    end
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys)
    for i, key in ipairs(keys) do parts[i] = quote(key) .. ":" .. json.encode(value[key]) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  error("cannot encode a " .. kind, 2)
end
local function fail(text, at, message) error(("%s at %d"):format(message, at), 0) end
local value
local function skip(text, at) return (text:find("%S", at)) or #text + 1 end
local function string_at(text, at)
  local parts, i = {}, at + 1
  while true do
    local stop = text:find('["\\]', i)
    if not stop then fail(text, at, "unfinished string") end
    parts[#parts + 1] = text:sub(i, stop - 1)
    if text:sub(stop, stop) == '"' then return table.concat(parts), stop + 1 end
    local c = text:sub(stop + 1, stop + 1)
    if c == "u" then
      parts[#parts + 1] = string.char(tonumber(text:sub(stop + 2, stop + 5), 16) % 256)
      i = stop + 6
    else
      parts[#parts + 1] = ({ n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" })[c] or c
      i = stop + 2
    end
  end
end
local function list_at(text, at)
  local list = {}
  at = skip(text, at + 1)
  if text:sub(at, at) == "]" then return list, at + 1 end
  while true do
    list[#list + 1], at = value(text, at)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "]" then return list, at + 1 end
    if c ~= "," then fail(text, at, "',' or ']' expected") end
    at = at + 1
  end
end
local function object_at(text, at)
  local object = {}
  at = skip(text, at + 1)
  if text:sub(at, at) == "}" then return object, at + 1 end
  while true do
    at = skip(text, at)
    if text:sub(at, at) ~= '"' then fail(text, at, "key expected") end
    local key
    key, at = string_at(text, at)
    at = skip(text, at)
    if text:sub(at, at) ~= ":" then fail(text, at, "':' expected") end
    object[key], at = value(text, at + 1)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "}" then return object, at + 1 end
    if c ~= "," then fail(text, at, "',' or '}' expected") end
    at = at + 1
  end
end
local words = { ["true"] = true, ["false"] = false, null = nil }
function value(text, at)
  at = skip(text, at)
  local c = text:sub(at, at)
  if c == "{" then return object_at(text, at)
  elseif c == "[" then return list_at(text, at)
  elseif c == '"' then return string_at(text, at) end
  local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  if number then return tonumber(number), at + #number end
  local word = text:match("^%a+", at)
  if word == "true" or word == "false" or word == "null" then return words[word], at + #word end
  fail(text, at, "value expected")
end
function json.decode(text)
  local result, at = value(text, 1)
  at = skip(text, at)
  if at <= #text then fail(text, at, "end expected") end
  return result
end
local document = { name = "test", list = { 1, 2.5, -3e10, "four", { nested = true } }, empty = {}, text = 'q"b\\n\n\1' }
local text = json.encode(document)
print(text)
local back = json.decode(text)
print(json.encode(back) == text, back.list[5].nested, back.text == document.text)
print(json.encode(json.decode(' { "a" : [ 1 , 2 , [ ] , { } ] , "b" : null , "c" : "\\u0041\\n" } ')))
for _, bad in ipairs({ "", "[1,", "[1 2]", '{"a"}', '{"a":1,}', "tru", '"abc', "[1] x", "{1:2}" }) do print(bad, pcall(json.decode, bad)) end
print(pcall(json.encode, print))
local big = {}
for i = 1, 300 do big[i] = { id = i, name = "item " .. i, tags = { "a", "b", i } } end
local encoded = json.encode(big)
print(#encoded, #json.decode(encoded), json.decode(encoded)[300].tags[3])
