-- Parses arithmetic by recursive descent, and evaluates in three ways.
local function parse(text)
  local at = 1
  local expression
  local function peek() at = text:find("%S", at) or #text + 1 return text:sub(at, at) end
  local function take(c) if peek() == c then at = at + 1 return true end return false end
  local function primary()
    if take("(") then
      local e = expression(1)
      if not take(")") then error("')' expected at " .. at, 0) end
      return e
    end
    if take("-") then return { op = "neg", primary() } end
    peek()
    local number = text:match("^%d+%.?%d*", at)
    if number then at = at + #number return { op = "num", value = tonumber(number) } end
    local name = text:match("^%a+", at)
    if name then at = at + #name return { op = "var", name = name } end
    error("operand expected at " .. at, 0)
  end
  local levels = { ["+"] = 1, ["-"] = 1, ["*"] = 2, ["/"] = 2, ["^"] = 3 }
  function expression(minimum)
    local left = primary()
    while true do
      local c = peek()
      local level = levels[c]
      if not level or level < minimum then return left end
      at = at + 1
      left = { op = c, left, expression(c == "^" and level or level + 1) }
    end
  end
  local e = expression(1)
  if peek() ~= "" then error("end expected at " .. at, 0) end
  return e
end
local actions = {
  num = function(e) return e.value end,
  var = function(e, env) return env[e.name] or error("no variable " .. e.name, 0) end,
}
local function evaluate(e, env) return actions[e.op](e, env) end
actions.neg = function(e, env) return -evaluate(e[1], env) end
actions["+"] = function(e, env) return evaluate(e[1], env) + evaluate(e[2], env) end
actions["-"] = function(e, env) return evaluate(e[1], env) - evaluate(e[2], env) end
actions["*"] = function(e, env) return evaluate(e[1], env) * evaluate(e[2], env) end
actions["/"] = function(e, env) return evaluate(e[1], env) / evaluate(e[2], env) end
actions["^"] = function(e, env) return evaluate(e[1], env) ^ evaluate(e[2], env) end
local function text_of(e)
  if e.op == "num" then return tostring(e.value) elseif e.op == "var" then return e.name
  elseif e.op == "neg" then return "(- " .. text_of(e[1]) .. ")" end
  return "(" .. text_of(e[1]) .. " " .. e.op .. " " .. text_of(e[2]) .. ")"
end
local function closure_of(e)
  if e.op == "num" then local v = e.value return function() return v end
  elseif e.op == "var" then local n = e.name return function(env) return env[n] end
  elseif e.op == "neg" then local a = closure_of(e[1]) return function(env) return -a(env) end end
  local a, b, op = closure_of(e[1]), closure_of(e[2]), e.op
  return op == "+" and function(env) return a(env) + b(env) end or op == "-" and function(env) return a(env) - b(env) end
    or op == "*" and function(env) return a(env) * b(env) end or op == "/" and function(env) return a(env) / b(env) end
    or function(env) return a(env) ^ b(env) end
end
local env = { x = 3, y = 4 }
for _, text in ipairs({ "1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-x ^ 2", "x * x + y * y", "10 - 4 - 3", "8 / 4 / 2", "--x", "1.5 * (y - -2)" }) do
  local e = parse(text)
  local compiled = setfenv(assert(loadstring("return " .. text_of(e))), env)
  print(text, text_of(e), evaluate(e, env), closure_of(e)(env), compiled())
end
for _, text in ipairs({ "", "1 +", "(1", "1 2", "1 + * 2", "z + 1" }) do print(text, pcall(function() return evaluate(parse(text), env) end)) end
local e, sum = parse("x * x - 2 * x + y / 4"), 0
local f = closure_of(e)
for i = 1, 3000 do env.x = i sum = sum + evaluate(e, env) - f(env) + i end
print(sum)
