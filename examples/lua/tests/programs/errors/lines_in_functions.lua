local function at_line_two(x)
  return x.field
end
local function
  spread(x)
  local a = 1

  local b = a + x
  return b
end
print(pcall(at_line_two))
print(pcall(spread))
print(pcall(function()
  local t = {
    1,
    2,
    x = nil + 1,
  }
end))
print(pcall(function()
  print(
    "a",
    missing.x
  )
end))
print(pcall(function()
  local v = "a" ..
    "b" ..
    nil
end))
print(pcall(function() if
  nil
  < 1 then end
end))
print(pcall(function()
  for i = 1,
    {} do
  end
end))
