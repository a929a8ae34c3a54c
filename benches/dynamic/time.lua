-- Arguments: a file with a function `run`, its argument, and how often it is run.
-- Prints the result and the seconds of the fastest run.
dofile(arg[1])
local n, rounds = tonumber(arg[2]), tonumber(arg[3])
local best, result = math.huge, nil
for _ = 1, rounds do
  collectgarbage()
  local start = os.clock()
  result = run(n)
  best = math.min(best, os.clock() - start)
end
print(string.format("%.17g %.9f", result, best))
