/* f64 kernel: the Mandelbrot set on an n by n grid; a loop that carries two floats, left by a comparison. */
#include "tiny.h"

static u32 escape(double real, double imaginary) {
    double x = 0.0, y = 0.0;
    u32 count = 0;
    while (count < 200) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4.0)
            break;
        y = 2.0 * x * y + imaginary;
        x = xx - yy + real;
        count++;
    }
    return count;
}

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1;
    for (i32 row = 0; row < n; row++)
        for (i32 column = 0; column < n; column++)
            sum = mix(sum, escape(3.0 * column / n - 2.25, 3.0 * row / n - 1.5));
    return (i64)sum;
}
