local function count(...)
  local nils, values = 0, 0
  for i = 1, select("#", ...) do
    if select(i, ...) == nil then nils = nils + 1 else values = values + 1 end
  end
  return nils, values
end
print(count())
print(count(nil))
print(count(1, nil, 2, nil))
local function last(...) return (select(-1, ...)) end
print(last(1), last(1, 2), last(1, 2, "three"))
local function sum(...)
  if select("#", ...) == 0 then return 0 end
  return (...) + sum(select(2, ...))
end
print(sum(), sum(5), sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
