-- Functions of the library that calls know, in hot loops: with what they mostly get, and then with all else.
local floor, ceil, abs, sqrt, max, min = math.floor, math.ceil, math.abs, math.sqrt, math.max, math.min
local byte = string.byte

local function results(f, ...)
  local ok, a = pcall(f, ...)
  return tostring(ok) .. ":" .. tostring(a):gsub("^.-:%d+: ", "")
end

local one = {
  floor = function(a) return floor(a) end,
  ceil = function(a) return ceil(a) end,
  abs = function(a) return abs(a) end,
  sqrt = function(a) return sqrt(a) end,
}
local two = {
  max = function(a, b) return max(a, b) end,
  min = function(a, b) return min(a, b) end,
}
local function byte_at(text, at) return (byte(text, at)) end
local function count_at(text, at) return select("#", byte(text, at)) end

local numbers = { 0, 1, -1, 0.5, -0.5, 2.5, -2.5, 1e15 + 0.5, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1e300, 1 / 0, -1 / 0 }
local others = { "7", "0x10", " 3 ", "x", true, {} }

for round = 1, 2 do
  for _, name in ipairs({ "floor", "ceil", "abs", "sqrt" }) do
    local f, sum = one[name], 0
    for i = 1, 20000 do sum = (sum + f(i / 8)) % 1000003 end
    io.write(name, " ", string.format("%.6f", sum))
    for _, a in ipairs(numbers) do io.write(" ", string.format("%.17g", f(a)):gsub("%-?nan", "nan"), "") end
    for _, a in ipairs(others) do io.write(" ", (results(f, a):gsub("table: %S+", "table"))) end
    print()
  end
  for _, name in ipairs({ "max", "min" }) do
    local f, sum = two[name], 0
    for i = 1, 20000 do sum = (sum + f(i % 17, i % 13)) % 1000003 end
    io.write(name, " ", sum)
    for _, a in ipairs(numbers) do
      for _, b in ipairs(numbers) do io.write(" ", string.format("%.17g", f(a, b)), "") end
    end
    for _, a in ipairs(others) do io.write(" ", results(f, a, 1), " ", results(f, 1, a)) end
    print()
  end
  local text, sum = ("some text\0with\255 bytes "):rep(20), 0
  for i = 1, 20000 do sum = (sum * 31 + byte_at(text, i % #text + 1)) % 1000003 end
  io.write("byte ", sum)
  for _, at in ipairs({ 1, 2.5, 0, -1, -#text, #text, #text + 1, 1e10, -1e10, 2 ^ 31, 2 ^ 32 + 1, "3", "0x2" }) do
    local known = type(at) == "string" or math.abs(at) < 2 ^ 31
    if known then io.write(" ", tostring(byte_at(text, at)), "/", count_at(text, at)) end
  end
  io.write(" ", tostring(byte_at("", 1)), " ", tostring(byte_at(12345, 2)), " ", results(byte_at, {}, 1):gsub("table: %S+", "table"), "")
  print(" " .. results(byte_at, "abc", {}), results(byte_at, "abc", "x"))
end

-- What stands between calls of several functions at one place.
local function any(f, a, b) return f(a, b) end
local sum = 0
for i = 1, 30000 do
  local f = i % 3 == 0 and max or i % 3 == 1 and min or byte
  sum = (sum + any(f, f == byte and "abcdef" or i % 11, i % 6 + 1)) % 1000003
end
print(sum)
