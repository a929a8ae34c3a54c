local log = [[
2024-01-02 10:11:12 [INFO] server: started on port 8080
2024-01-02 10:11:13 [WARN] db: slow query (1.25s)
2024-01-02 10:12:00 [ERROR] server: request failed: code=500 path="/a b"
bad line
]]
for line in log:gmatch("[^\n]+") do
  local date, time, level, source, message = line:match("^(%d+%-%d+%-%d+) (%d+:%d+:%d+) %[(%u+)%] (%w+): (.*)$")
  print(date, time, level, source, message)
end
for key, value in ('name=x; size = 12 ;path="a;b"; flag'):gmatch("(%w+)%s*=%s*(\"?[^;]*)") do io.write("[", key, "|", value, "]") end
print()
print(("http://user@host.com:8080/path/file.txt?q=1#top"):match("^(%w+)://([^/:]*):?(%d*)(/?[^?#]*)%??([^#]*)#?(.*)$"))
print(("  indented"):match("^(%s*)(%S+)"))
print(("/usr/local/lib/file.tar.gz"):match("([^/]+)$"), ("/usr/local/lib/file.tar.gz"):match("^(.*)/"), ("file.tar.gz"):match("%.([^.]+)$"))
print(("<a href='x'>text</a><b>y</b>"):gsub("<[^>]->", ""))
print(("%d and %s"):gsub("%%(%a)", { d = "number", s = "string" }))
print(("one;two;;four"):gsub(";;", ";nil;"))
print(("a.b.c"):gsub("%.", "/"), ("tabs\tand\nlines"):gsub("%c", " "))
print(("x = 1 -- comment"):match("^(.-)%s*%-%-"), ("no comment"):match("^(.-)%s*%-%-"))
print(("12:34"):match("^(%d%d?):(%d%d)$"), ("1234"):match("^(%d%d?):(%d%d)$"))
print(("foo(bar(baz))"):match("%((.*)%)"), ("f(x) + g(y)"):match("%((.-)%)"))
