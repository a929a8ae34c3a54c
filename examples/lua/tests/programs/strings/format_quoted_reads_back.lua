local texts = { "", "plain", 'say "hi"', "back\\slash", "line\nbreak", "cr\rlf\n", "zero\0one\0001", "\200\255", "%d%%", "]]" }
for i, text in ipairs(texts) do
  local quoted = string.format("%q", text)
  local back = assert(loadstring("return " .. quoted))()
  print(i, back == text, #quoted)
end
local all = {}
for i = 0, 255 do all[#all + 1] = string.char(i) end
all = table.concat(all)
print(loadstring("return " .. string.format("%q", all))() == all)
