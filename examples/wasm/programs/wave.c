/* f32 kernel: a drum's skin for n steps; a stencil over two planes, conversions between floats and integers. */
#include "tiny.h"

enum { SIDE = 64 };
static float planes[2][SIDE][SIDE];

static void step(float (*now)[SIDE], float (*then)[SIDE]) {
    for (u32 y = 1; y + 1 < SIDE; y++)
        for (u32 x = 1; x + 1 < SIDE; x++) {
            float around = now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1];
            float next = 2.0f * now[y][x] - then[y][x] + 0.2f * (around - 4.0f * now[y][x]);
            then[y][x] = next * 0.999f;
        }
}

EXPORT(run) i64 run(i32 n) {
    for (u32 y = 0; y < SIDE; y++)
        for (u32 x = 0; x < SIDE; x++)
            planes[0][y][x] = planes[1][y][x] = 0.0f;
    planes[0][SIDE / 2][SIDE / 3] = 100.0f;
    for (i32 i = 0; i < n; i++)
        step(planes[i & 1], planes[~i & 1]);
    u64 sum = 1;
    for (u32 y = 0; y < SIDE; y++)
        for (u32 x = 0; x < SIDE; x++)
            sum = mix(sum, (u64)(i64)(i32)(planes[0][y][x] * 65536.0f));
    return (i64)sum;
}
