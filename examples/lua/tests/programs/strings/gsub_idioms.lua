local function trim(s) return (s:gsub("^%s*(.-)%s*$", "%1")) end
print("[" .. trim("  a b  ") .. "]", "[" .. trim("") .. "]", "[" .. trim("   ") .. "]")
local function escape(s) return (s:gsub("[%-%.%+%[%]%(%)%$%^%%%?%*]", "%%%0")) end
print(escape("a.b*c[d]"), ("x a.b y"):find(escape("a.b")))
local function url(s) return (s:gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end)) end
print(url("a b&c=d/é"))
local function unurl(s) return (s:gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end)) end
print(unurl("a%20b%26c"))
local function commas(n)
  local s = tostring(n)
  local count
  repeat s, count = s:gsub("^(-?%d+)(%d%d%d)", "%1,%2") until count == 0
  return s
end
print(commas(1), commas(1000), commas(-1234567), commas(12345678901))
print((("CamelCaseName"):gsub("(%u)", function(c) return "_" .. c:lower() end)))
print((("x = $(a) + $(b)"):gsub("%$%((%w+)%)", { a = 1, b = 2 })))
print(select(2, ("a,b,c"):gsub(",", "")))
