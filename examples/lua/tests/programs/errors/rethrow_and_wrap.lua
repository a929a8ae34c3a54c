local function risky(kind)
  if kind == "text" then error("text error")
  elseif kind == "table" then error({ kind = kind, where = "risky" })
  elseif kind == "native" then return nil + 1
  elseif kind == "library" then return ("x"):rep({})
  elseif kind == "nil" then error(nil)
  end
  return "fine"
end
local function guarded(kind)
  local ok, e = pcall(risky, kind)
  if ok then return e end
  if type(e) == "table" then e.rethrown = true error(e) end
  error("wrapped: " .. tostring(e), 0)
end
for _, kind in ipairs({ "none", "text", "table", "native", "library", "nil" }) do
  local ok, e = pcall(guarded, kind)
  print(kind, ok, type(e) == "table" and e.where .. " " .. tostring(e.rethrown) or e)
end
local function finally(f, cleanup, ...)
  local results = { pcall(f, ...) }
  cleanup()
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end
print(finally(function(a, b) return a + b end, function() print("cleaned") end, 1, 2))
print(pcall(finally, error, function() print("cleaned") end, "thrown", 0))
