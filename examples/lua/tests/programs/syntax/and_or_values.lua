local values = { false, 1, "x" }
local function show(...) local t = {} for i = 1, select("#", ...) do t[i] = tostring((select(i, ...))) end print(table.concat(t, " ")) end
for _, a in ipairs({ 1, 2, 3 }) do
  for _, b in ipairs({ 1, 2, 3 }) do
    local x, y = values[a], values[b]
    show(x and y, x or y, not x, not (x and y), x and not y, not x or y, (x or y) and x, x and y or "else")
  end
end
local n = nil
show(n and n.field, n or "default", (n or {}).field, not n and "absent")
local function f() return nil, 1 end
show(f() or 2, f() and 2, (f()))
local a = 5
local r = a > 3 and a < 10
show(r, a > 3 and "big" or "small", a == 5 and nil, a ~= 5 or "five")
local t = { a == 5, not a, a and 1, a or 1 }
show(unpack(t, 1, 4))
local function bool(x) return x and true or false end
show(bool(0), bool(""), bool(nil), bool(false))
