local chunks = { "x", "x =", "= 1", "x = 1 1", "local", "local 1", "local x =", "if", "if x", "if x then", "if x then else",
  "while x", "while x do", "for", "for x", "for x =", "for x = 1", "for x = 1 do end", "for x, y", "for x in", "for x in y",
  "for 1 = 2 do end", "function", "function f", "function f(", "function f(a,", "function f(1)", "function f() ", "function f.()",
  "return 1 x", "break", "do", "repeat", "repeat until", "end", "x.", "x:", "x:y", "x[1", "x[1]", "x(", "x()()", "f() = 1",
  "(x) = 1", "x, y", "x, = 1", "{}", "x = {", "x = {1 2}", "x = {[1]}", "x = {a=}", "'abc", "\"abc\ndef\"", "x = [[abc",
  "--[[ open", "x = 5 .. ", "x = not", "x = #", "x = @", "x = $y", "x = ~", "x ~= 1", "x == 1", "local function", "local function f.g() end",
  "return return", "until x", "else", "x = function", "x = function end", "x = ...; return ...", "function f() return ... end",
  "x = 'a\\300'", "x = '\\", "a.b:c = 1", "a.1 = 2", "x = }", "x = )", "local x.y = 1", "for i = 1, 2, 3, 4 do end", "goto x", "::x::" }
for _, chunk in ipairs(chunks) do
  print(string.format("%q", chunk), (select(2, loadstring(chunk, "=c"))))
end
