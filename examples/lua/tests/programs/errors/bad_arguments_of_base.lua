local function try(code) print(code, (select(2, pcall(loadstring(code, "=c"))))) end
for _, name in ipairs({ "assert", "collectgarbage('x')", "dofile({})", "error", "getfenv({})", "getmetatable", "ipairs", "load",
  "loadfile({})", "loadstring", "next", "pairs", "pcall", "rawequal", "rawget", "rawset", "require", "select", "setfenv",
  "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall", "newproxy(5)", "select(0)", "select('x')", "tonumber(1, 99)",
  "tonumber({}, 2)", "setmetatable({}, 1)", "setmetatable(1, {})", "setfenv(1, 1)", "setfenv('x', {})", "rawset({}, 1)",
  "rawequal(1)", "next({}, 1)", "load('x')", "require({})", "module()", "module({})" }) do
  try(name:find("(", 1, true) and name or name .. "()")
end
