-- Tables against a model that only uses string keys, with keys around zero, growth, holes, traversals that remove, and collections.
local seed = 42
local function below(n) seed = seed * 16807 % 2147483647 return seed % n end
local keys = { -2, -1, -0, 0, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 64, 65, 2 ^ 31, 2 ^ 32, 2 ^ 53, -2 ^ 31, 1e300, "0", "x", true }
local function name(k) if k == 0 then k = 0 end return type(k) .. string.format("%.17g", type(k) == "number" and k + 0 or 0) .. tostring(type(k) == "number" and "" or k) end
local log, mode = {}, { "k", "v", "" }
for round = 1, 500 do
  local t, model = setmetatable({}, { __mode = mode[below(3) + 1] }), {}
  for step = 1, below(60) + 1 do
    local k = keys[below(#keys) + 1]
    local v = below(3) > 0 and below(1000) or nil
    local how = below(6)
    if how == 0 then rawset(t, k, v) model[name(k)] = v
    elseif how == 1 then for i = 0, below(20) do t[i] = i model[name(i)] = i end
    elseif how == 2 then for i = below(20), 0, -1 do t[i] = nil model[name(i)] = nil end
    elseif how == 3 and round % 50 == 0 then collectgarbage()
    elseif how == 4 then for kk in pairs(t) do if #name(kk) % 2 == step % 2 then t[kk] = nil model[name(kk)] = nil end end
    else t[k] = v model[name(k)] = v end
    if t[k] ~= model[name(k)] then error("differs at " .. name(k)) end
  end
  local count, sum = 0, 0
  for k, v in pairs(t) do count, sum = count + 1, sum + v if model[name(k)] ~= v then error("pairs " .. name(k)) end end
  for _, v in pairs(model) do count, sum = count - 1, sum - v end
  if count ~= 0 or sum ~= 0 then error("count") end
  local n = #t
  if n > 0 and t[n] == nil or t[n + 1] ~= nil then error("border") end
  for i, v in ipairs(t) do if v ~= t[i] then error("ipairs") end end
  log[#log + 1] = (table.concat(t, ",", 0 + 1, t[1] and 1 or 0) .. tostring(t[0]) .. tostring(rawequal(t[-0], t[0])))
end
local h = 0
for i, l in ipairs(log) do for c in l:gmatch(".") do h = (h * 31 + c:byte()) % 1000003 end end
print(#log, h)
