local caught = 0
local t = {}
for i = 1, 20000 do
  local ok = pcall(function() if i % 2 == 0 then error(t) end return i end)
  if not ok then caught = caught + 1 end
end
print(caught)
local kinds = {
  function() return nil + 1 end, function() return nil .. "x" end, function() return {} < {} end, function() local x x() end,
  function() local x return x.y end, function() return #nil end, function() ("x"):rep({}) end, function() error() end,
}
local messages = {}
for i = 1, 800 do
  local ok, e = pcall(kinds[i % #kinds + 1])
  messages[tostring(e)] = (messages[tostring(e)] or 0) + 1
end
local list = {}
for m, n in pairs(messages) do list[#list + 1] = n .. " " .. m end
table.sort(list)
print(table.concat(list, "\n"))
