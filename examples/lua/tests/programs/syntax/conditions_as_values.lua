-- Every way in which operands, comparisons, `not`, `and` and `or` make a value, of three levels: where the value goes, and what a branch does.
local a, b, c = 1, 2, nil
local function id(...) return ... end
local leaves = { "nil", "false", "true", "3", "'s'", "a", "c", "a == 1", "a ~= 1", "b < a", "c == nil", "not a", "not c", "(id(4, 5))", "id(false)" }
local pairs_of = {}
for _, l in ipairs(leaves) do
  for _, r in ipairs(leaves) do
    for _, op in ipairs { "and", "or" } do
      pairs_of[#pairs_of + 1] = l .. " " .. op .. " " .. r
    end
  end
end
local function run(text)
  local f = assert(loadstring("local a, b, c, id = ... " .. text))
  return tostring(f(a, b, c, id))
end
local count, line = 0, {}
local function say(text)
  line[#line + 1] = run(text)
  count = count + 1
  if #line == 30 then
    print(table.concat(line, " "))
    line = {}
  end
end
for _, expr in ipairs(pairs_of) do
  say("return " .. expr)
  say("local x = " .. expr .. " return x")
  say("if " .. expr .. " then return 'yes' end return 'no'")
  say("local n = 0 while " .. expr .. " do n = n + 1 if n == 2 then break end end return n")
end
-- Three levels, not all of them.
for at = 1, #pairs_of, 29 do
  for of = 1, #leaves do
    local expr, leaf = pairs_of[at], leaves[of]
    for _, whole in ipairs {
      "(" .. expr .. ") and " .. leaf, "(" .. expr .. ") or " .. leaf, leaf .. " and (" .. expr .. ")",
      leaf .. " or (" .. expr .. ")", "not (" .. expr .. ") and " .. leaf, "not (" .. expr .. ") or " .. leaf,
      expr .. " and " .. leaf .. " or " .. leaves[#leaves - of + 1],
    } do
      say("local x = " .. whole .. " return x")
      say("local t = { " .. whole .. ", k = " .. whole .. " } return tostring(t[1]) .. tostring(t.k)")
      say("a = " .. whole .. " return a")
      say("repeat b = b + 1 until (" .. whole .. ") or b > 4 return b")
    end
  end
end
print(table.concat(line, " "))
print(count)
