local function f()
  local a =
    1
  error(
    "several lines"
  )
end
print(pcall(f))
print(pcall(function() error "on one line" end))
print(pcall(function()

  error("third")

end))
local function g(x)
  return x
    .y
    .z
end
print(pcall(g, {}))
print(pcall(g, { y = {} }))
