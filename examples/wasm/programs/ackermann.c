/* Recursion, deep: Ackermann's function of 2 and n, and Takeuchi's, whose arguments are calls. */
#include "tiny.h"

static u32 ackermann(u32 m, u32 n) {
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static i32 takeuchi(i32 x, i32 y, i32 z) {
    if (y >= x)
        return z;
    return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y));
}

EXPORT(run) i64 run(i32 n) {
    return (i64)mix(ackermann(2, (u32)n), (u64)(i64)takeuchi(n % 20, n / 2 % 12, n % 7));
}
