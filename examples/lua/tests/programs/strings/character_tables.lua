local function class(c)
  local names = {}
  for _, name in ipairs({ "a", "c", "d", "l", "p", "s", "u", "w", "x" }) do if c:match("%" .. name) then names[#names + 1] = name end end
  return table.concat(names)
end
for i = 0, 127 do io.write(("%02x:%s"):format(i, class(string.char(i))), (i + 1) % 8 == 0 and "\n" or " ") end
local high = 0
for i = 128, 255 do if class(string.char(i)) ~= "" then high = high + 1 end end
print(high)
