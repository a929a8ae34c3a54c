-- The game of 24: which four numbers give 24 with the four operations, and by which expression. Fractions are exact.
-- longer: 17
local n = tonumber(arg[1]) or 10

local function combine(a, b, visit)
  local an, ad, bn, bd = a.num, a.den, b.num, b.den
  local left, right = a.text, b.text
  if visit(an * bd + bn * ad, ad * bd, "+", left, right) then return true end
  if visit(an * bn, ad * bd, "*", left, right) then return true end
  if visit(an * bd - bn * ad, ad * bd, "-", left, right) then return true end
  if visit(bn * ad - an * bd, ad * bd, "-", right, left) then return true end
  if bn ~= 0 and visit(an * bd, ad * bn, "/", left, right) then return true end
  if an ~= 0 and visit(ad * bn, an * bd, "/", right, left) then return true end
  return false
end

local function search(items, count)
  if count == 1 then
    local only = items[1]
    if only.num == 24 * only.den then return only.text end
    return nil
  end
  for i = 1, count - 1 do
    for j = i + 1, count do
      local rest, found = {}, nil
      for k = 1, count do
        if k ~= i and k ~= j then rest[#rest + 1] = items[k] end
      end
      combine(items[i], items[j], function(num, den, sign, left, right)
        rest[count - 1] = { num = num, den = den, text = "(" .. left .. sign .. right .. ")" }
        found = search(rest, count - 1)
        return found ~= nil
      end)
      if found then return found end
    end
  end
  return nil
end

local sum, solved = 0, 0
for a = 1, n do
  for b = a, n do
    for c = b, n do
      for d = c, n do
        local items = {}
        for i, value in ipairs({ a, b, c, d }) do items[i] = { num = value, den = 1, text = tostring(value) } end
        local text = search(items, 4)
        if text then
          solved = solved + 1
          for i = 1, #text do sum = (sum * 17 + text:byte(i)) % 1000003 end
        end
      end
    end
  end
end
sum = sum * 1000 + solved
print("game24 " .. n .. " " .. sum)
assert(n ~= 10 or sum == 677534566)
