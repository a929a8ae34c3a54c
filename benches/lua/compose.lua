-- Functions of functions: composition, currying, partial application, map, filter, fold and streams that are computed when needed.
-- longer: 120000
local n = tonumber(arg[1]) or 17000

local function map(f, list)
  local out = {}
  for i = 1, #list do out[i] = f(list[i]) end
  return out
end

local function filter(f, list)
  local out = {}
  for i = 1, #list do
    if f(list[i]) then out[#out + 1] = list[i] end
  end
  return out
end

local function fold(f, start, list)
  local value = start
  for i = 1, #list do value = f(value, list[i]) end
  return value
end

local function compose(...)
  local fs, count = { ... }, select("#", ...)
  return function(...)
    local value = fs[count](...)
    for i = count - 1, 1, -1 do value = fs[i](value) end
    return value
  end
end

local function curry(f, arity)
  local function collect(given, count)
    return function(value)
      local all = {}
      for i = 1, count do all[i] = given[i] end
      all[count + 1] = value
      if count + 1 == arity then return f(all[1], all[2], all[3]) end
      return collect(all, count + 1)
    end
  end
  return collect({}, 0)
end

local function partial(f, first)
  return function(...) return f(first, ...) end
end

local function stream(first, rest) return { first = first, rest = rest } end
local function naturals(from) return stream(from, function() return naturals(from + 1) end) end

local function stream_map(f, it)
  return stream(f(it.first), function() return stream_map(f, it.rest()) end)
end

local function take(count, it)
  local out = {}
  for i = 1, count do
    out[i] = it.first
    it = it.rest()
  end
  return out
end

local function add(a, b) return a + b end
local function times(a, b) return a * b end

local church = {}
function church.zero() return function(x) return x end end
function church.next(number) return function(f) return function(x) return f(number(f)(x)) end end end
function church.plus(a, b) return function(f) return function(x) return a(f)(b(f)(x)) end end end

local sum, numbers = 0, {}
for i = 1, 50 do numbers[i] = i end
for i = 1, n do
  local scale = compose(partial(add, i % 10), partial(times, 3), function(a) return a - 1 end)
  local is_odd = function(a) return a % 2 == 1 end
  sum = sum + fold(add, 0, filter(is_odd, map(scale, numbers)))
  sum = sum + curry(function(a, b, c) return a * b + c end, 3)(i)(2)(3)
  sum = sum + fold(add, 0, take(10, stream_map(scale, naturals(i))))
  local number = church.zero
  for _ = 1, i % 6 do number = church.next(number) end
  sum = (sum + church.plus(number, number)(partial(add, 1))(0)) % 1000003
end
print("compose " .. n .. " " .. sum)
assert(n ~= 17000 or sum == 94016)
