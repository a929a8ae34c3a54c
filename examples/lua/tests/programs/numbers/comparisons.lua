local nan = 0 / 0
print(nan == nan, nan ~= nan, nan < nan, nan <= nan, nan > 1, nan < 1, not (nan < 1), not (nan >= 1))
local inf = 1 / 0
print(inf > 1e308, -inf < inf, inf == inf, inf - inf == 0, inf * 0 == 0)
print(1 < 2, 2 < 1, 1 <= 1, 1 >= 2, 1 ~= 1.0, 1 == 1.0)
local function test(a, b)
  local r = ""
  if a < b then r = r .. "<" end
  if a <= b then r = r .. "{" end
  if a > b then r = r .. ">" end
  if a >= b then r = r .. "}" end
  if a == b then r = r .. "=" end
  if a ~= b then r = r .. "#" end
  if not (a < b) then r = r .. "n" end
  if not (a <= b) then r = r .. "m" end
  return r
end
print(test(1, 2), test(2, 1), test(1, 1), test(nan, 1), test(1, nan), test(nan, nan), test(0, -0))
print(test(inf, -inf), test("a", "b"), test("b", "a"), test("a", "a"))
