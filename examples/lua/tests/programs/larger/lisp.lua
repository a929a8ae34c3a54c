-- A Lisp: reader, evaluator with closures, and printer.
local function read_all(text)
  local tokens = {}
  for token in text:gsub("[()']", " %0 "):gmatch("%S+") do tokens[#tokens + 1] = token end
  local at = 1
  local function read()
    local token = tokens[at]
    at = at + 1
    if not token then error("unexpected end", 0) end
    if token == "(" then
      local list = {}
      while tokens[at] ~= ")" do
        if not tokens[at] then error("missing )", 0) end
        list[#list + 1] = read()
      end
      at = at + 1
      return list
    elseif token == ")" then error("unexpected )", 0)
    elseif token == "'" then return { "quote", read() } end
    return tonumber(token) or token
  end
  local forms = {}
  while at <= #tokens do forms[#forms + 1] = read() end
  return forms
end
local function show(v)
  if type(v) == "table" then
    local parts = {}
    for i, item in ipairs(v) do parts[i] = show(item) end
    return "(" .. table.concat(parts, " ") .. ")"
  elseif type(v) == "function" then return "<function>"
  elseif v == true then return "#t" elseif v == false then return "#f" end
  return tostring(v)
end
local evaluate
local special = {}
function special.quote(x) return x[2] end
special["if"] = function(x, env) return evaluate(evaluate(x[2], env) ~= false and x[3] or x[4], env) end
function special.define(x, env)
  if type(x[2]) == "table" then
    local parameters = { unpack(x[2], 2) }
    env[x[2][1]] = evaluate({ "lambda", parameters, unpack(x, 3) }, env)
  else env[x[2]] = evaluate(x[3], env) end
end
function special.lambda(x, env)
  return function(...)
    local inner = setmetatable({}, { __index = env })
    for i, name in ipairs(x[2]) do inner[name] = select(i, ...) end
    for i = 3, #x - 1 do evaluate(x[i], inner) end
    return evaluate(x[#x], inner)
  end
end
function special.let(x, env)
  local inner = setmetatable({}, { __index = env })
  for _, binding in ipairs(x[2]) do inner[binding[1]] = evaluate(binding[2], env) end
  return evaluate(x[3], inner)
end
function evaluate(x, env)
  if type(x) == "string" then
    local v = env[x]
    if v == nil then error("unbound " .. x, 0) end
    return v
  elseif type(x) ~= "table" then return x end
  if type(x[1]) == "string" and special[x[1]] then return special[x[1]](x, env) end
  local f, arguments = evaluate(x[1], env), {}
  if type(f) ~= "function" then error("not a function: " .. show(f), 0) end
  for i = 2, #x do arguments[i - 1] = evaluate(x[i], env) end
  return f(unpack(arguments, 1, #x - 1))
end
local global = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end, ["*"] = function(a, b) return a * b end,
  ["<"] = function(a, b) return a < b end, ["="] = function(a, b) return a == b end, ["#t"] = true, ["#f"] = false,
  car = function(l) return l[1] end, cdr = function(l) return { unpack(l, 2) } end,
  cons = function(a, l) return { a, unpack(l) } end, list = function(...) return { ... } end,
  null = function(l) return #l == 0 end,
}
local program = [[
(define (fact n) (if (< n 2) 1 (* n (fact (- n 1)))))
(fact 15)
(define (map f l) (if (null l) '() (cons (f (car l)) (map f (cdr l)))))
(map (lambda (x) (* x x)) '(1 2 3 4 5))
(define (fold f a l) (if (null l) a (fold f (f a (car l)) (cdr l))))
(fold + 0 (map fact '(1 2 3 4 5 6)))
(define (adder n) (lambda (x) (+ x n)))
((adder 10) 5)
(let ((x 2) (y 3)) (list x y (+ x y) '(a (b) c)))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(map fib '(1 5 10 15))
(define (count n) (if (= n 0) 'done (count (- n 1))))
(count 500)
(list #t #f car)
]]
for _, form in ipairs(read_all(program)) do
  local value = evaluate(form, global)
  if value ~= nil then print(show(value)) end
end
for _, bad in ipairs({ "(", ")", "(nope 1)", "(1 2)", "(fact" }) do
  print(bad, pcall(function() return evaluate(read_all(bad)[1], global) end))
end
