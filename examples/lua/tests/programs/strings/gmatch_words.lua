for word in ("one two  three"):gmatch("%a+") do io.write("<", word, ">") end
print()
for key, value in ("a=1, b=2, c=3"):gmatch("(%w+)=(%w+)") do io.write(key, "->", value, ";") end
print()
for at in ("abc"):gmatch("()") do io.write(at, " ") end
print()
for s in ("abc"):gmatch("") do io.write("[", s, "]") end
print()
for s in ("aab"):gmatch("a*") do io.write("[", s, "]") end
print()
for s in ("x"):gmatch("y") do print("never") end
for a, b, c in ("123456789"):gmatch("(%d)(%d)(%d)") do io.write(a + b + c, " ") end
print()
local iterator = ("a b"):gmatch("%a")
print(iterator(), iterator(), iterator(), iterator())
-- An anchor has no meaning here, and is a plain character.
for s in ("^a a"):gmatch("^a") do io.write("{", s, "}") end
print()
print(type(string.gfind("x", "x")), string.gfind("abc", "b")())
