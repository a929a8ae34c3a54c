local depth = 0
local function paren(n) if n == 0 then return 0 end return (paren(n - 1)) end
local function plus(n) if n == 0 then return 0 end return 1 + plus(n - 1) end
local function two(n) if n == 0 then return 0 end return two(n - 1), n end
local function statement(n) if n > 0 then statement(n - 1) end depth = depth + 1 end
print(paren(5000), plus(5000), (two(5000)))
statement(5000)
print(depth)
local function list(n) if n == 0 then return {} end local t = list(n - 1) t[#t + 1] = n return t end
print(#list(3000))
local function andor(n) return n == 0 and "end" or andor(n - 1) end
print(andor(3000))
