local a = 1; local b = 2;
print(a, b);
-- comment to the line's end
--[[ long
comment ]]
--[=[ with ]] inside ]=] print("after")
do end;
do local x; x = 3; print(x); end
local function f() return 1; end
print(f())
local function g() do return 2 end; end
print(g())
print("a" --[[ in the middle ]] .. "b") -- end
--
--[==[
]==]
local t = {
  1, -- one
  2; --[[ two ]] 3,
}
print(#t)
if a then return print("returned") end
