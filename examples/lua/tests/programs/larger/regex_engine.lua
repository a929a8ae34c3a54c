-- Brian Kernighan's small matcher with classes, groups by backtracking closures.
local function compile(pattern)
  local at = 1
  local alternatives
  local function atom()
    local c = pattern:sub(at, at)
    at = at + 1
    if c == "(" then
      local m = alternatives()
      if pattern:sub(at, at) ~= ")" then error("missing )", 0) end
      at = at + 1
      return m
    elseif c == "." then return function(s, i, k) return i <= #s and k(i + 1) end
    elseif c == "^" then return function(s, i, k) return i == 1 and k(i) end
    elseif c == "$" then return function(s, i, k) return i == #s + 1 and k(i) end
    elseif c == "[" then
      local negated = pattern:sub(at, at) == "^"
      if negated then at = at + 1 end
      local set = {}
      while pattern:sub(at, at) ~= "]" do
        if at > #pattern then error("missing ]", 0) end
        local from, to = pattern:match("^(.)%-([^%]])", at)
        if from then
          for b = from:byte(), to:byte() do set[string.char(b)] = true end
          at = at + 3
        else
          set[pattern:sub(at, at)] = true
          at = at + 1
        end
      end
      at = at + 1
      return function(s, i, k) return i <= #s and (set[s:sub(i, i)] or false) ~= negated and k(i + 1) end
    elseif c == "\\" then c = pattern:sub(at, at) at = at + 1
    elseif c == "*" or c == "+" or c == "?" then error("nothing to repeat", 0) end
    return function(s, i, k) return s:sub(i, i) == c and i <= #s and k(i + 1) end
  end
  local function star(m)
    local function again(s, i, k)
      return m(s, i, function(j) return j > i and again(s, j, k) end) or k(i)
    end
    return again
  end
  local function repeated()
    local m = atom()
    local c = pattern:sub(at, at)
    if c == "*" then at = at + 1 return star(m)
    elseif c == "+" then
      at = at + 1
      local rest = star(m)
      return function(s, i, k) return m(s, i, function(j) return rest(s, j, k) end) end
    elseif c == "?" then at = at + 1 return function(s, i, k) return m(s, i, k) or k(i) end end
    return m
  end
  local function sequence()
    local list = {}
    while at <= #pattern and not pattern:match("^[|)]", at) do list[#list + 1] = repeated() end
    return function(s, i, k)
      local function step(n, j) if n > #list then return k(j) end return list[n](s, j, function(e) return step(n + 1, e) end) end
      return step(1, i)
    end
  end
  function alternatives()
    local first = sequence()
    while pattern:sub(at, at) == "|" do
      at = at + 1
      local left, right = first, sequence()
      first = function(s, i, k) return left(s, i, k) or right(s, i, k) end
    end
    return first
  end
  local m = alternatives()
  if at <= #pattern then error("unmatched )", 0) end
  return function(s)
    for i = 1, #s + 1 do
      local stop = m(s, i, function(e) return e end)
      if stop then return i, stop - 1, s:sub(i, stop - 1) end
    end
    return nil
  end
end
local cases = { { "abc", "xabcx" }, { "a.c", "abc" }, { "a*b", "aaab" }, { "a+b", "b" }, { "^ab?c$", "ac" }, { "(ab)+", "xababab" },
  { "cat|dog", "hotdog" }, { "[a-c]+", "xxabcabc" }, { "[^0-9]+", "123abc" }, { "(a|b)*c", "ababc" }, { "\\.x", "a.x" }, { "", "abc" },
  { "(a*)*b", "aaab" }, { "x$", "axbx" } }
for _, case in ipairs(cases) do print(case[1], case[2], compile(case[1])(case[2])) end
for _, bad in ipairs({ "(", ")", "[a", "*a", "a(b" }) do print(bad, pcall(compile, bad)) end
print(select(2, compile("(a|b|c)*d")(("abc"):rep(15) .. "d")))
