local formats = { "%5d|", "%-5d|", "%05d|", "%+5d|", "% 5d|", "%5.2f|", "%-8.3e|", "%08.3f|", "%+.0f|", "%#x|", "%#o|", "%x|", "%X|",
  "%g|", "%G|", "%10.4g|", "%s|", "%10s|", "%-10s|", "%.1s|", "%c|", "%i|", "%5s|", "%q|", "%%|", "%5%|" }
for _, format in ipairs(formats) do
  local line = { format }
  for _, value in ipairs({ 0, 65, 1.5, 123456 }) do
    local ok, text = pcall(string.format, format, value)
    line[#line + 1] = (text:gsub("%c", function(c) return "\\" .. c:byte() end))
  end
  print(table.concat(line, " "))
end
