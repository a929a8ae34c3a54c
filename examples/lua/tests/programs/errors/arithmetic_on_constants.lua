local function try(code) print(code, (select(2, pcall(assert(loadstring(code, "=c")))))) end
for _, code in ipairs({ "return 1 + nil", "return nil + 1", "return 'x' + 1", "return 1 + 'x'", "return {} + {}", "return -{}", "return -nil",
  "return 2 ^ {}", "return {} % 2", "return 1 .. nil", "return nil .. 1", "return {} .. 'x'", "return 'a' .. {} .. 'b'", "return #5", "return #nil",
  "return 1 < 'x'", "return nil < 1", "return {} < {}", "return {} < 1", "return 'a' <= 1", "return nil > nil", "local a = 'x' return a * 2",
  "local a = {} return a * 2", "local a, b = 1 return a * b", "a = 'x' return a * 2", "return x.y", "return x.y.z", "return x()", "return x.y()",
  "return ('x')()", "return (1)()", "return ('x').y.z", "return (1).x", "x.y = 1", "local t = {} t.x.y = 1", "local t = {} t[nil] = 1",
  "return true + 1", "return 1 - false", "return print + 1", "local a = '10' return a + 'x'", "return -'x'", "return - '5'" }) do
  try(code)
end
