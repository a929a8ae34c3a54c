local function shift(text, by)
  return (text:gsub("%a", function(c)
    local base = c:lower() == c and 97 or 65
    return string.char((c:byte() - base + by) % 26 + base)
  end))
end
print(shift("Hello, World!", 3))
print(shift(shift("Hello, World!", 3), -3))
print(shift("abcxyz", 13), shift(shift("abcxyz", 13), 13))
print(shift("Zebra", 1), shift("Zebra", -27))
