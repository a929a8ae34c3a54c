-- Chains of operators of one level, as values, as conditions, and negated.
local seed = 1
local function random(n) seed = (seed * 16807) % 2147483647 return seed % n + 1 end
local atoms = { "nil", "false", "true", "0", "1", "'a'", "a", "b", "c", "d", "f(nil)", "f(1)", "f()" }
local operators = { " and ", " and ", " or ", " or ", " == ", " ~= ", " .. ", "+" }
local function chain(depth)
  local parts = {}
  for i = 1, random(7) do
    local atom = atoms[random(#atoms)]
    if depth > 0 and random(4) == 1 then atom = (random(2) == 1 and "not " or "") .. "(" .. chain(depth - 1) .. ")" end
    parts[#parts + 1] = atom
    parts[#parts + 1] = operators[random(#operators)]
  end
  return table.concat(parts, "", 1, #parts - 1)
end
local forms = {
  "return %s", "if %s then return 'yes' else return 'no' end", "local x = %s return x, not (%s)",
  "a = %s return a", "local n = 0 while %s do n = n + 1 if n == 3 then break end end return n",
  "return f(%s), not (%s)", "local t = { %s } return t[1]", "local x, y = 5, 6 x = x and %s return x, y",
}
for i = 1, 400 do
  local text = chain(2)
  for _, form in ipairs(forms) do
    local code = "local a, b, c = nil, 1, false local function f(...) calls = calls + 1 return ... end " .. form:gsub("%%s", function() return text end)
    calls, d = 0, "d"
    local chunk = assert(loadstring(code, "=c"))
    local ok, first, second = pcall(chunk)
    print(i, ok, ok and first or tostring(first):gsub("^.*'%?'", ""), second, calls)
  end
end
-- Their length is no depth.
for _, operator in ipairs { " and ", " or ", " == ", " < ", "+" } do
  local long = loadstring("local x = ... return x" .. (operator .. "x"):rep(5000))
  print(operator, pcall(long, 1))
  long = loadstring("local x = ... if x" .. (operator .. "x"):rep(5000) .. " then return 1 end return 2")
  print(operator, (pcall(long, 1)))
end
