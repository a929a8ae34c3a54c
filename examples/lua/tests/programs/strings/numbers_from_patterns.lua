local sum, list = 0, {}
for sign, digits in ("1 -2 +3.5 4e2 x -7"):gmatch("([+-]?)([%d.e]+)") do
  local n = tonumber(digits)
  if n then
    if sign == "-" then n = -n end
    sum = sum + n
    list[#list + 1] = n
  end
end
print(sum, table.concat(list, " "))
print(("v1.2.3"):match("v(%d+)%.(%d+)%.(%d+)"))
print(("12:34:56"):gsub("%d+", function(d) return d + 1 end))
print(tonumber(("  77px"):match("%d+")))
