local names, sets = {}, {}
for i = 1, 180 do names[i] = "v" .. i sets[i] = tostring(i) end
local code = "local n = ... local " .. table.concat(names, ",") .. " = " .. table.concat(sets, ",")
  .. " for i = 1, n do v1, v90, v180 = v180 + 1, v1 % 1000, v90 - 1 v45 = v45 + v46 v46 = (v46 + v47) % 97 end return v1, v45, v46, v90, v180, "
  .. table.concat(names, "+")
print(assert(loadstring(code))(0))
print(assert(loadstring(code))(10000))
local function spread(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  for r = 1, 1000 do a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a + r end
  return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
end
print(spread(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
local function floats(n)
  local a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, s = .1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8
  for _ = 1, n do
    a, b, c = b * c + a, c - d, d * .5 d, e, f = e + f, f * g, g - h g, h, i = h * .9, i - j * .1, j * .2 + k
    j, k, l = k - l, l * m, m * .3 + o m, o, p = o * .5, p - q, q * .7 + r q, r, s = r * .4 + s, s * .6, a * .1
  end
  return ("%.10g %.10g %.10g %.10g"):format(a + b + c + d, e + f + g + h, i + j + k + l, m + o + p + q + r + s)
end
print(floats(1)) print(floats(10)) print(floats(100))
