/* Recursion with a search: in how many ways n queens stand on a board; sets of squares are bits. */
#include "tiny.h"

static u32 place(u32 all, u32 columns, u32 left, u32 right) {
    if (columns == all)
        return 1;
    u32 count = 0;
    for (u32 free = all & ~(columns | left | right); free; free &= free - 1) {
        u32 queen = free & -free;
        count += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return count;
}

EXPORT(run) i64 run(i32 n) {
    return place((1u << n) - 1, 0, 0, 0);
}
