-- Two coroutines that hand a value to and fro, a ring of them that pass a token on, and many that live shortly.
-- longer: 10000000
local n = tonumber(arg[1]) or 1900000

local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield

local function player(by)
  return create(function(ball)
    while true do ball = yield((ball * by + 1) % 1000003) end
  end)
end

local ping, pong, ball, ok = player(3), player(7), 1, true
for _ = 1, n do
  ok, ball = resume(ping, ball)
  ok, ball = resume(pong, ball)
end
local sum = ball

local ring = {}
for i = 1, 100 do
  ring[i] = create(function(token, round)
    while true do token, round = yield(token + i * round) end
  end)
end
for round = 1, n / 100 do
  local token = 0
  for i = 1, 100 do
    local alive, next = resume(ring[i], token, round)
    if not alive then error(next) end
    token = next
  end
  sum = (sum + token) % 1000003
end

for i = 1, n / 10 do
  local short = create(function(a, b)
    local c = yield(a + b)
    return c * 2, "done"
  end)
  local _, first = resume(short, i, 2)
  local _, second, text = resume(short, first)
  if text ~= "done" or coroutine.status(short) ~= "dead" then error("it did not end") end
  sum = (sum + second) % 1000003
end
print("pingpong " .. n .. " " .. sum)
assert(n ~= 1900000 or sum == 551123)
