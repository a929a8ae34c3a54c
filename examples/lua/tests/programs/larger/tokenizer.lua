-- Splits Lua source into tokens.
local keywords = {}
for word in ([[and break do else elseif end false for function if in local nil not or repeat return then true until while]]):gmatch("%a+") do
  keywords[word] = true
end
local operators = { "...", "..", "==", "~=", "<=", ">=", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=", "(", ")", "{", "}", "[", "]",
  ";", ":", ",", "." }
local function tokens(source)
  local at, line = 1, 1
  local function advance(text)
    for _ in text:gmatch("\n") do line = line + 1 end
    at = at + #text
    return text
  end
  return coroutine.wrap(function()
    while true do
      local blank = source:match("^%s+", at)
      if blank then advance(blank) end
      if at > #source then return end
      local started = line
      local level = source:match("^%-%-%[(=*)%[", at)
      if level then
        local _, stop = source:find("]" .. level .. "]", at, true)
        advance(source:sub(at, stop or #source))
      elseif source:match("^%-%-", at) then
        advance(source:match("^[^\n]*", at))
      else
        local name = source:match("^[%a_][%w_]*", at)
        local number = source:match("^0[xX]%x+", at) or source:match("^%d+%.?%d*[eE][+-]?%d+", at) or source:match("^%d+%.?%d*", at)
          or source:match("^%.%d+", at)
        local bracket = source:match("^%[(=*)%[", at)
        local quote = source:match("^['\"]", at)
        if name then coroutine.yield(keywords[name] and "keyword" or "name", advance(name), started)
        elseif number then coroutine.yield("number", advance(number), started)
        elseif bracket then
          local _, stop = source:find("]" .. bracket .. "]", at, true)
          coroutine.yield("string", advance(source:sub(at, stop)), started)
        elseif quote then
          local i = at + 1
          while source:sub(i, i) ~= quote do
            if source:sub(i, i) == "\\" then i = i + 1 end
            i = i + 1
            if i > #source then error("unfinished string in line " .. started, 0) end
          end
          coroutine.yield("string", advance(source:sub(at, i)), started)
        else
          local found
          for _, operator in ipairs(operators) do
            if source:sub(at, at + #operator - 1) == operator then found = operator break end
          end
          if not found then error("strange character in line " .. started, 0) end
          coroutine.yield("operator", advance(found), started)
        end
      end
    end
  end)
end
local source = [==[
local x = 0x1F + 3.14e-2 -- comment
--[[ long
comment ]] function f(a, ...) return a.b["key"], 'it\'s' end
if x >= .5 and x ~= 10 then print [[long
string]] end
]==]
for kind, text, line in tokens(source) do print(line, kind, (text:gsub("\n", "\\n"))) end
local counts, total = {}, 0
for kind in tokens(source:rep(50)) do counts[kind] = (counts[kind] or 0) + 1 total = total + 1 end
print(total, counts.keyword, counts.name, counts.number, counts.string, counts.operator)
print(pcall(function() for _ in tokens("x = 'abc") do end end))
print(pcall(function() for _ in tokens("x = 1\ny = @") do end end))
