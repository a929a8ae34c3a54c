/* Memory streaming: copy, scale, add and triad over three arrays of a megabyte each, then a sum. */
#include "tiny.h"

enum { WORDS = 131072 };
static u64 a[WORDS], b[WORDS], c[WORDS];

EXPORT(run) i64 run(i32 n) {
    for (u32 i = 0; i < WORDS; i++) {
        a[i] = i * 0x9e3779b97f4a7c15ull;
        b[i] = i;
    }
    for (i32 round = 0; round < n; round++) {
        for (u32 i = 0; i < WORDS; i++)
            c[i] = a[i];
        for (u32 i = 0; i < WORDS; i++)
            b[i] = 3 * c[i] + (u64)round;
        for (u32 i = 0; i < WORDS; i++)
            c[i] = a[i] + b[i];
        for (u32 i = 0; i < WORDS; i++)
            a[i] = b[i] ^ 5 * c[i];
    }
    u64 sum = 1;
    for (u32 i = 0; i < WORDS; i++)
        sum += a[i] ^ b[i] ^ c[i];
    return (i64)mix(sum, a[WORDS / 3]);
}
