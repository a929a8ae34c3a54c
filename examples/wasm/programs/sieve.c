/* Integer kernel: the sieve of Eratosthenes, n times over; strided byte stores and a counting loop. */
#include "tiny.h"

enum { LIMIT = 65536 };
static u8 composite[LIMIT];

static u32 sieve(u32 limit) {
    u32 count = 0;
    for (u32 i = 0; i < limit; i++)
        composite[i] = 0;
    for (u32 i = 2; i < limit; i++) {
        if (composite[i])
            continue;
        count++;
        for (u32 multiple = i * i; i < 256 && multiple < limit; multiple += i)
            composite[multiple] = 1;
    }
    return count;
}

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1;
    for (i32 i = 0; i < n; i++)
        sum = mix(sum, sieve(LIMIT - (u32)i % 1000));
    return (i64)sum;
}
