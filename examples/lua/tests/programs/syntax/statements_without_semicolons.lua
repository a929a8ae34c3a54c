local a = 1 local b = 2 print(a) print(b)
local t = {} t.x = 1 t.y = 2
if a == 1 then print "one" end for i = 1, 2 do io.write(i) end print()
while b > 0 do b = b - 1 end print(b)
local f = function(x) return x end f()
local g = f;
(print)("parentheses begin a statement")
local h = f (print)
h("the call went on")
do local x = f(1) print(x) end return (print("last"))
