/* Integer kernel: rotations, counts of bits, shifts by variable amounts and narrow arithmetic with signs. */
#include "tiny.h"

static u32 rotate(u32 x, u32 by) {
    return x << (by & 31) | x >> (-by & 31);
}

static u64 step(u64 sum, u64 word) {
    u32 low = (u32)word, high = (u32)(word >> 32);
    u32 turned = rotate(low, high) ^ rotate(high, low >> 7);
    i8 byte = (i8)(word >> 11);
    i16 half = (i16)(word >> 23);
    u32 counted = (u32)__builtin_popcountll(word) + (u32)__builtin_clz(low | 1) + (u32)__builtin_ctz(high | 0x80000000u);
    i32 narrow = byte * 31 - half / 7 + (i32)(i8)(half >> (counted & 7));
    return mix(sum, ((u64)turned << 17) + (u64)(i64)narrow * counted);
}

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1, state = 0x123456789abcdefull;
    for (i32 i = 0; i < n; i++)
        sum = step(sum, next(&state));
    return (i64)sum;
}
