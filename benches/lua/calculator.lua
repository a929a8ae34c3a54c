-- A compiler of arithmetic and its machine: characters to tokens, to a tree, to instructions, which run on a stack.
-- longer: 8500
local n = tonumber(arg[1]) or 1200

local SOURCE = [[
  i = 0; a = 1; b = 0; total = 0;
  while i < 100 {
    c = a + b * 2; b = a; a = c - (c / 1009) * 1009;
    if a < b { total = total + a } else { total = total - b * (i + 1) };
    i = i + 1
  };
  total
]]

local function tokens(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then break end
    local word = text:match("^%a%w*", at)
    local number = not word and text:match("^%d+", at)
    local token = word or number or text:sub(at, at)
    list[#list + 1] = { kind = word and "word" or number and "number" or token, text = token }
    at = at + #token
  end
  list[#list + 1] = { kind = "end", text = "" }
  return list
end

local Parser = {}
Parser.__index = Parser

function Parser:peek() return self.tokens[self.at] end

function Parser:take(kind)
  local token = self.tokens[self.at]
  if kind and token.kind ~= kind then error("expected " .. kind .. ", found " .. token.text) end
  self.at = self.at + 1
  return token
end

local LEVELS = { { ["<"] = true }, { ["+"] = true, ["-"] = true }, { ["*"] = true, ["/"] = true } }

function Parser:binary(level)
  local signs = LEVELS[level]
  if not signs then return self:primary() end
  local left = self:binary(level + 1)
  while signs[self:peek().kind] do
    local sign = self:take().kind
    left = { kind = sign, left = left, right = self:binary(level + 1) }
  end
  return left
end

function Parser:primary()
  local token = self:take()
  if token.kind == "number" then return { kind = "number", value = tonumber(token.text) } end
  if token.kind == "word" then return { kind = "variable", name = token.text } end
  if token.kind ~= "(" then error("unexpected " .. token.text) end
  local inner = self:binary(1)
  self:take(")")
  return inner
end

function Parser:block()
  self:take("{")
  local list = self:statements("}")
  self:take("}")
  return list
end

function Parser:statement()
  local token = self:peek()
  if token.text == "while" or token.text == "if" then
    self:take()
    local it = { kind = token.text, condition = self:binary(1), body = self:block() }
    if self:peek().text == "else" then
      self:take()
      it.otherwise = self:block()
    end
    return it
  end
  local following = self.tokens[self.at + 1]
  if token.kind == "word" and following.kind == "=" then
    self.at = self.at + 2
    return { kind = "assign", name = token.text, value = self:binary(1) }
  end
  return self:binary(1)
end

function Parser:statements(stop)
  local list = { kind = "block" }
  while self:peek().kind ~= stop do
    list[#list + 1] = self:statement()
    if self:peek().kind == ";" then self:take() end
  end
  return list
end

local emit = {}

local function compile(tree, code)
  return emit[tree.kind](tree, code)
end

local function add(code, op, operand)
  code[#code + 1] = { op = op, operand = operand }
  return code[#code]
end

function emit.number(tree, code) add(code, "push", tree.value) end
function emit.variable(tree, code) add(code, "load", tree.name) end

function emit.assign(tree, code)
  compile(tree.value, code)
  add(code, "store", tree.name)
end

function emit.block(tree, code)
  for _, it in ipairs(tree) do compile(it, code) end
end

emit["if"] = function(tree, code)
  compile(tree.condition, code)
  local skip = add(code, "unless")
  compile(tree.body, code)
  local leave = add(code, "jump")
  skip.operand = #code + 1
  if tree.otherwise then compile(tree.otherwise, code) end
  leave.operand = #code + 1
end

emit["while"] = function(tree, code)
  local top = #code + 1
  compile(tree.condition, code)
  local skip = add(code, "unless")
  compile(tree.body, code)
  add(code, "jump", top)
  skip.operand = #code + 1
end

for _, sign in ipairs({ "+", "-", "*", "/", "<" }) do
  emit[sign] = function(tree, code)
    compile(tree.left, code)
    compile(tree.right, code)
    add(code, sign)
  end
end

local function run(code)
  local stack, top, variables, at = {}, 0, {}, 1
  while code[at] do
    local op, operand = code[at].op, code[at].operand
    at = at + 1
    if op == "push" then
      top = top + 1
      stack[top] = operand
    elseif op == "load" then
      top = top + 1
      stack[top] = variables[operand]
    elseif op == "store" then
      variables[operand] = stack[top]
      top = top - 1
    elseif op == "jump" then
      at = operand
    elseif op == "unless" then
      if stack[top] == 0 then at = operand end
      top = top - 1
    else
      local a, b = stack[top - 1], stack[top]
      top = top - 1
      if op == "+" then
        stack[top] = a + b
      elseif op == "-" then
        stack[top] = a - b
      elseif op == "*" then
        stack[top] = a * b
      elseif op == "/" then
        stack[top] = math.floor(a / b)
      else
        stack[top] = a < b and 1 or 0
      end
    end
  end
  return stack[top]
end

local sum = 0
for round = 1, n do
  local source = SOURCE:gsub("1009", tostring(1000 + round % 50))
  local parser = setmetatable({ tokens = tokens(source), at = 1 }, Parser)
  local code = {}
  compile(parser:statements("end"), code)
  sum = (sum * 3 + run(code) + #code) % 1000003
end
print("calculator " .. n .. " " .. string.format("%d", sum))
assert(n ~= 1200 or sum == 601076)
