local text = ""
for i = 0, 127 do text = text .. string.char(i) end
for _, class in ipairs({ "a", "c", "d", "l", "p", "s", "u", "w", "x", "z" }) do
  local inside, outside = 0, 0
  for i = 0, 255 do
    if string.char(i):match("%" .. class) then inside = inside + 1 end
    if string.char(i):match("%" .. class:upper()) then outside = outside + 1 end
  end
  print(class, inside, outside)
end
print((text:gsub("[^%g%w]", "")))
print(#text:gsub("%W", ""), text:gsub("%W", ""))
print((text:gsub("%P", "")))
