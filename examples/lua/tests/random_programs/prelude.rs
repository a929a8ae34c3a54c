//! What all programs start with.
//!
//! In: nothing. Out: the names that statements use. Three counters, which are set before each call, end programs soon: `fuel` those that
//! would call for too long, `steps` those whose loops would try a feature again and again, `left` what would print too much. `note` takes all
//! that a feature finds into one number, which the program prints at its end, and prints some of it.

/// The text. Whatever is printed has only plain characters.
pub(super) const PRELUDE: &str = "\
local fuel, steps, left, sum = 0, 0, 0, 0
local floor, select, tostring, type, sub, pcall = math.floor, select, tostring, type, string.sub, pcall
local byte, concat = string.byte, table.concat
local function text(x)
  if x ~= x then return 'nan' end
  if type(x) == 'string' then return sub(x, 1, 12) end
  return x
end
local function clean(x)
  if x ~= x then return 0 end
  return x
end
local function code(c) return '\\\\' .. byte(c) end
local function plain(x)
  local kind = type(x)
  if x ~= x then return 'nan' end
  if kind == 'string' then return (string.gsub(sub(x, 1, 100), '[^ -~]', code)) end
  if kind == 'number' or kind == 'boolean' or kind == 'nil' then return tostring(x) end
  return kind
end
local function joined(...)
  local parts = {}
  for i = 1, select('#', ...) do parts[i] = plain((select(i, ...))) end
  return concat(parts, ' ')
end
local function show(...) print(joined(...)) end
local function note(...)
  local line = joined(...)
  sum = (sum * 31 + #line * 7 + byte(line, -1) * 3 + byte(line, -2) * 5 + byte(line, floor(#line / 2))) % 16777213
  if left > 0 then
    left = left - 1
    print(line)
  end
end
local function step()
  steps = steps - 1
  return steps >= 0
end
local function keys(x)
  local parts = {}
  for k, v in pairs(x) do parts[#parts + 1] = (k == 0 and '0' or plain(k)) .. '=' .. plain(v) end
  table.sort(parts)
  return concat(parts, ' ')
end
local function count(x)
  local n = 0
  for k in pairs(x) do n = n + 1 end
  return n
end
local meta = {
  __index = function(t, k) return k end,
  __add = function(a, b) return 1 end,
  __concat = function(a, b) return 'joined' end,
  __lt = function(a, b) return false end,
  __call = function(self, a) return a end,
  __unm = function(a) return 7 end,
  __le = function(a, b) return true end,
}
local base = { get = function(self, k) return self.x + k end, name = 'base' }
local class = setmetatable({ set = function(self, v) self.x = v return self end }, { __index = base })
class.__index, class.__eq = class, function(a, b) return a.x == b.x end
local function new(x) return setmetatable({ x = x }, class) end
local o, p = new(1), new(2)
local u1, u2, u3 = 1, 'up', nil
g1, g2, g3 = 10, 'global', 0.5
local t, l, m = { x = 1, y = 'why', [3] = 2.5 }, { 1, 2, 3 }, setmetatable({}, meta)
local w1, w2, w3, q = { x = 3 }, { 4, 5 }, { y = 'why' }, { 5, 3, 9 }
local mt1, mt2 = {}, { __index = w3 }
local zero, big, huge = 0, 2 ^ 53, 1e300 * 1e300
local none, minus = huge - huge, -zero
";
