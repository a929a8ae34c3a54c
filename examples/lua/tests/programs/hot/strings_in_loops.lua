local parts = {}
for i = 1, 5000 do parts[#parts + 1] = i % 15 == 0 and "FizzBuzz" or i % 5 == 0 and "Buzz" or i % 3 == 0 and "Fizz" or tostring(i) end
local text = table.concat(parts, ",")
print(#text, text:sub(1, 60))
local hash = 5381
for i = 1, #text do hash = (hash * 33 + text:byte(i)) % 4294967296 end
print(hash)
local keys = {}
for i = 1, 20000 do local k = "key" .. i % 100 keys[k] = (keys[k] or 0) + 1 end
print(keys.key0, keys.key99, keys.key100)
local same = 0
for i = 1, 20000 do if "a" .. i % 10 == "a5" then same = same + 1 end end
print(same)
local s = ""
for i = 1, 2000 do s = s .. "x" if #s > 100 then s = "" end end
print(#s)
local n = 0
for word in text:gmatch("%a+") do n = n + #word end
print(n)
local order = 0
for i = 1, 20000 do if tostring(i) < tostring(i + 1) then order = order + 1 end end
print(order)
