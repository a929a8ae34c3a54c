-- Finds, matches and replaces patterns in a made-up log: captures, sets, repetition, balance, anchors.
-- longer: 940
local n = tonumber(arg[1]) or 140

local METHODS = { "GET", "POST", "PUT", "HEAD" }

local function log(count)
  local lines, seed = {}, 17
  for i = 1, count do
    seed = seed * 16807 % 2147483647
    lines[i] = ("10.0.%d.%d - [%02d/Nov:%02d:%02d] \"%s /item/%x?name=a+%d%%20b\" %d %d (cache(hit=%d))"):format(
      seed % 256, seed % 97, seed % 28 + 1, seed % 24, seed % 60, METHODS[seed % 4 + 1], seed % 65536, seed % 10,
      seed % 5 == 0 and 404 or 200, seed % 10000, seed % 2)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function unescape(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local text, sum = log(400), 0
for round = 1, n do
  local sizes, missing = 0, 0
  for line in text:gmatch("(.-)\n") do
    local a, b, day, hour, method, path, query, status, size =
      line:match('^10%.0%.(%d+)%.(%d+) %- %[(%d+)/%a+:(%d+):%d+%] "(%u+) ([^?"]*)%??([^"]*)" (%d%d%d) (%d+)')
    sizes = sizes + size + a * b + day * hour + #method + #path
    if status == "404" then missing = missing + 1 end
    local key, value = unescape(query):match("^(%w+)=(.*)$")
    sum = (sum * 3 + #key + #value) % 1000003
    local balanced = line:match("%b()")
    sum = sum + #balanced + (line:find("hit=1", 1, true) or 0)
  end
  local changed, count = text:gsub("%d+", { ["404"] = "missing", ["200"] = "fine" })
  local words = select(2, text:gsub("%f[%a]%a+", "%0%0"))
  local trimmed = ("   " .. text .. "  \n"):match("^%s*(.-)%s*$")
  sum = (sum * 7 + sizes + missing + #changed + count + words + #trimmed + round) % 1000003
end
print("patterns " .. n .. " " .. string.format("%d", sum))
assert(n ~= 140 or sum == 556624)
