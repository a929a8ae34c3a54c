local zero = 0
local minus = -zero
print(zero == minus, 1 / zero, 1 / minus)
print(1 / (zero * -1), 1 / (-1 * zero), 1 / -zero)
local t = {}
t[minus] = "set"
print(t[0], t[zero])
print(minus < zero, minus <= zero, math.max(minus, zero) == 0)
local function negate(x) return -x end
print(1 / negate(0), 1 / negate(negate(0)))
print(1 / (minus + zero), 1 / (minus - zero), 1 / (minus + minus))
print(1 / math.ceil(-0.5), 1 / math.floor(zero))
print(("%g %d %.1f"):format(minus, minus, minus))
print(minus % 5 == 0, minus ^ 2 == 0)
