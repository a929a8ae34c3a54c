-- The values of ... in calls of functions of Lua and of C, in tables, in assignments and in results: none, some, and many.
local function f(...) return ... end
local function g(a, ...) return a, ... end
local function h(...) local a, b, c = ... return c, b, a end
local function t(...) return {1, 2, ...} end
local function n(...) return select('#', ...), (...) end
local function m(...) return f(g(h(...))) end
local function big(...) return select('#', f(...)), f(0, ...) end
print(f()) print(f(nil)) print(f(1, nil, nil)) print(g()) print(g(1)) print(g(1, 2, nil)) print(h(1)) print(h(1,2,3,4))
print(#t(), #t(3), #t(3,4,5), t(3,4,5)[5]) print(n()) print(n(nil)) print(n(7, 8)) print(m(1, 2, 3))
print(select(-1, 1, 2, 3)) print(select(2.9, 1, 2, 3)) print(pcall(select, 0, 1)) print(select('#')) print(select('2', 4, 5, 6))
local l = {} for i = 1, 300 do l[i] = i end
print(big(unpack(l, 1, 5))) print(select('#', big(unpack(l)))) print(select(300, f(unpack(l)))) print((f(unpack(l))))
print(pcall(f, unpack(l, 298))) print(select('#', pcall(f, unpack(l))))
local mt = setmetatable({}, {__call = function(self, ...) return select('#', ...), ... end})
local function cm(...) return mt(...) end
print(cm()) print(cm(1, nil)) print((cm(unpack(l))))
local function err(...) return nil_function(...) end print(pcall(err, 1, 2))
local function err2(...) local x = nil_function(...) return x end print(pcall(err2, 1, 2))
local function tail(k, ...) if k == 0 then return ... end return tail(k - 1, k, ...) end
print(tail(20, 'x')) print(unpack({1,2,3}, 2)) print(unpack({}, 1, 3)) print(unpack({1,2}, -1, 1)) print(pcall(unpack, {}, 1, 1e8))
print(string.format('%d %d', f(1, 2))) print(math.max(f(3, 9, 4))) print((f(1,2)))
local function five(a,b,c,d,e,...) return select('#',...), ..., a, e end print(five(1,2,3,4,5)) print(five(1,2,3,4,5,6,7)) print(five(1))
local function sel(k, ...) return select(k, ...) end
print(sel(1)) print(sel(-2, 1, 2, 3)) print(sel(1.5, 9, 8)) print(pcall(sel, 0, 1)) print(pcall(sel, -5, 1))
print(pcall(sel, 1/0, 1)) print(pcall(sel, -1/0, 1)) print(sel('#x', 1, 2)) print(pcall(sel, 'x', 1)) print(sel('2', 1, 5, nil))
print(pcall(sel)) print(pcall(sel, {})) print(sel('#')) print(select('#', sel(2, nil, nil, nil)))
print(coroutine.wrap(function(...) return coroutine.yield(...) end)(1,2,3,4,5))
-- Often enough that all of it is compiled.
local sum = 0
for i = 1, 3000 do
  sum = sum + select('#', f(i, nil, i)) + #t(i, i) + (h(i, 2, 3)) + select(2, g(i, i, 2)) + (select(i % 3 + 1, i, 2, 3))
  local a, b = tail(3, i)
  sum = sum + a + b + select('#', sel(i % 4 + 1, 1, nil, nil))
end
print(sum)
