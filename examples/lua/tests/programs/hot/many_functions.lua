local sources = {}
for i = 1, 150 do
  sources[i] = ("local function f%d(n) local s = %d for i = 1, n do s = s + i %% %d end return s end fs[%d] = f%d"):format(i, i, i % 9 + 2, i, i)
end
fs = {}
for i = 1, 150, 50 do assert(loadstring(table.concat(sources, "\n", i, i + 49)))() end
local sum = 0
for round = 1, 5 do for i = 1, 150 do sum = sum + fs[i](100) end end
print(sum, #fs)
local chain = function(x) return x end
for i = 1, 100 do
  local previous = chain
  chain = assert(loadstring("local f = ... return function(x) return f(x + " .. i .. ") end"))(previous)
end
local total = 0
for i = 1, 300 do total = total + chain(i) end
print(total)
local big = { "local x = ...", "local s = 0" }
for i = 1, 500 do big[#big + 1] = ("if x %% %d == 0 then s = s + %d else s = s - 1 end"):format(i + 1, i) end
big[#big + 1] = "return s"
local f = assert(loadstring(table.concat(big, "\n")))
total = 0
for i = 1, 300 do total = total + f(i) end
print(total)
