local function split(text, separator)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end
for _, case in ipairs({ "a,b,c", "", ",", "a,,b", ",a,", "none" }) do
  local parts = split(case, ",")
  print(#parts, table.concat(parts, "|"))
end
print(#split("a--b--c", "--"), table.concat(split("a.b.c", "."), " "))
local lines = {}
for line in ("one\ntwo\n\nfour"):gmatch("([^\n]*)\n?") do lines[#lines + 1] = line end
print(#lines, table.concat(lines, "|"))
