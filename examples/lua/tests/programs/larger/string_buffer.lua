-- A rope-like buffer which joins short pieces as a tower.
local Buffer = {}
Buffer.__index = Buffer
function Buffer.new() return setmetatable({ "" }, Buffer) end
function Buffer:add(...)
  for i = 1, select("#", ...) do
    self[#self + 1] = tostring((select(i, ...)))
    for at = #self - 1, 1, -1 do
      if #self[at] > #self[at + 1] then break end
      self[at] = self[at] .. table.remove(self)
    end
  end
  return self
end
function Buffer:text() return table.concat(self) end
Buffer.__concat = function(a, b) return tostring(a) .. tostring(b) end
Buffer.__tostring = Buffer.text
local b = Buffer.new()
for i = 1, 500 do b:add(i, ",") end
local text = b:text()
print(#text, text:sub(1, 20), text:sub(-8), #b < 20)
print(Buffer.new():add("x", 1, true, nil) .. "!")
local function wrap(s, width)
  local lines, line = {}, ""
  for word in s:gmatch("%S+") do
    if #line + #word + 1 > width and line ~= "" then lines[#lines + 1] = line line = word
    else line = line == "" and word or line .. " " .. word end
  end
  lines[#lines + 1] = line
  return lines
end
local poem = "so much depends upon a red wheel barrow glazed with rain water beside the white chickens"
for _, line in ipairs(wrap(poem, 24)) do print(("%-24s|"):format(line)) end
local function center(s, width) local left = math.floor((width - #s) / 2) return (" "):rep(left) .. s .. (" "):rep(width - #s - left) end
for _, word in ipairs({ "a", "bcd", "efghi" }) do print("[" .. center(word, 9) .. "]") end
local function table_text(rows)
  local widths, out = {}, Buffer.new()
  for _, row in ipairs(rows) do for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, #tostring(cell)) end end
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      out:add(("%" .. (type(cell) == "number" and "" or "-") .. widths[i] .. "s"):format(tostring(cell)), i < #row and " | " or "\n")
    end
  end
  return out:text()
end
io.write(table_text({ { "name", "n" }, { "first", 1 }, { "x", 1000 }, { "long name here", 22 } }))
local run = ("aaabccdddd"):gsub("(.)%1*", function(c) return c end)
print(run, (("aaabccdddd"):gsub("((.)%2*)", function(all, c) return #all .. c end)))
