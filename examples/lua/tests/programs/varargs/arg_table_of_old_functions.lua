-- A vararg function that does not use `...` has the table `arg`.
local function old(...) return arg.n, arg[1], arg[2], type(arg) end
print(old()) print(old("a")) print(old("a", nil)) print(old(nil, "b", "c"))
local function uses_dots(...) local x = ... return type(arg), arg == _G.arg, x end
print(uses_dots(1))
local function fixed(a, ...) arg.n = arg.n * 10 return a, arg.n, unpack(arg, 1, 2) end
print(fixed("first", "x", "y"))
local function no_varargs() return arg == _G.arg end
print(no_varargs())
local function inner_ones(...)
  local function inner(...) return arg.n end
  return arg.n, inner(1, 2, 3)
end
print(inner_ones("x"))
