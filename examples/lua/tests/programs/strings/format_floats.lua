print(("%f %.2f %.0f %10.3f %-10.3f| %+.1f"):format(3.14159, 3.14159, 3.5, 3.14159, 3.14159, 3.14159))
print(("%e %.2e %E %.0e"):format(12345.678, 12345.678, 12345.678, 12345.678))
print(("%g %g %g %g %g"):format(100000, 1000000, 1e15, 0.0001, 0.00001))
print(("%.3g %.10g %G %#g"):format(3.14159, 3.14159, 1e20, 1))
print(("%5.1f|%05.1f|% .1f|%#.0f"):format(9.96, 9.96, 9.96, 9))
print(("%.14g %.17g %.20f"):format(0.1, 0.1, 0.1))
print(("%f %g"):format(1e300 * 1e10, -1e300 * 1e10))
print(("%5.1f|%-8g|%08g"):format(1 / 0, -1 / 0, 1 / 0))
print(("%.0f %.0f %.0f %.0f"):format(0.5, 1.5, 2.5, 3.5))
-- The constant -0 is the constant 0 in C's Lua, if the function has had that.
local zero = 0
print(("%g %g %g"):format(-zero, 0, 1e-310))
print(("%.99f"):format(1 / 3):sub(1, 60))
print(pcall(string.format, "%.100f", 1))
