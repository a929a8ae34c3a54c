local _, __, _x1, X, x = 1, 2, 3, 4, 5
print(_, __, _x1, X, x)
local t = { ["end"] = 1, ["if"] = 2, and_ = 3 }
print(t["end"], t["if"], t.and_)
for _, word in ipairs({ "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
  "not", "or", "repeat", "return", "then", "true", "until", "while" }) do
  local _, message = loadstring("local " .. word .. " = 1", "=c")
  print(word, message)
end
-- These are names in Lua 5.1.
local goto, continue, self, class = "g", "c", "s", "k"
print(goto, continue, self, class)
