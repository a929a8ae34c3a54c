-- The machine's own not-a-number has its sign set; C prints that.
local zero = 0
print(zero / zero, -(zero / zero))
print(1 / zero - 1 / zero, 0 * (1 / zero))
print(tostring(zero / zero), (zero / zero) .. "")
print(("%f %g %5.1f"):format(zero / zero, -(zero / zero), zero / zero))
