local function try(code) print(code, (select(2, pcall(loadstring(code, "=c"))))) end
for _, code in ipairs({ "io.open()", "io.open({})", "io.open('x', {})", "io.close(5)", "io.lines({})", "io.read('x')", "io.read({})",
  "io.write({})", "io.write(nil)", "io.type()", "io.output({})", "io.input({})", "io.stdout.write()", "io.stdout.write(5)",
  "io.stdout:write({})", "io.stdout:seek('nowhere')", "io.stdout:setvbuf('x')", "io.stdout:setvbuf()", "io.stdin:read('*x')",
  "io.stdin:lines(1).x()", "os.date({})", "os.time(5)", "os.time({})", "os.time({ year = 2000 })", "os.time({ year = 2000, month = 1 })",
  "os.difftime()", "os.getenv()", "os.getenv({})", "os.remove()", "os.rename('x')", "os.setlocale({})", "os.setlocale('C', 'nothing')",
  "io.lines('no/such/file')", "io.input('no/such/file')", "io.popen()" }) do
  try(code)
end
