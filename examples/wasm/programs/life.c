/* A board of bytes: Conway's life on a torus for n generations; small loads, additions, tests. */
#include "tiny.h"

enum { SIDE = 128 };
static u8 boards[2][SIDE][SIDE];

static void generation(u8 (*from)[SIDE], u8 (*to)[SIDE]) {
    for (u32 y = 0; y < SIDE; y++) {
        const u8 *above = from[(y - 1) % SIDE], *row = from[y], *below = from[(y + 1) % SIDE];
        for (u32 x = 0; x < SIDE; x++) {
            u32 left = (x - 1) % SIDE, right = (x + 1) % SIDE;
            u32 around = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] + below[x] + below[right];
            to[y][x] = around == 3 || (around == 2 && row[x]);
        }
    }
}

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1, state = 2463534242ull;
    for (u32 y = 0; y < SIDE; y++)
        for (u32 x = 0; x < SIDE; x++)
            boards[0][y][x] = next(&state) % 3 == 0;
    for (i32 i = 0; i < n; i++)
        generation(boards[i & 1], boards[~i & 1]);
    for (u32 y = 0; y < SIDE; y++)
        for (u32 x = 0; x < SIDE; x++)
            sum = mix(sum, boards[n & 1][y][x]);
    return (i64)sum;
}
