/* Integer kernel: Miller-Rabin on numbers of 32 bits; 64-bit multiplication, remainder and shifts. */
#include "tiny.h"

static u64 power(u64 base, u64 exponent, u64 modulus) {
    u64 result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

static int is_witness(u64 base, u64 n) {
    int twos = __builtin_ctzll(n - 1);
    u64 x = power(base, (n - 1) >> twos, n);
    if (x == 1 || x == n - 1)
        return 0;
    for (int i = 1; i < twos; i++) {
        x = x * x % n;
        if (x == n - 1)
            return 0;
    }
    return 1;
}

/* The bases 2, 3, 5 and 7 suffice for all numbers below 3,215,031,751. */
static int is_prime(u64 n) {
    static const u8 bases[] = {2, 3, 5, 7};
    if (n < 2)
        return 0;
    for (u32 i = 0; i < COUNT(bases); i++)
        if (n % bases[i] == 0)
            return n == bases[i];
    for (u32 i = 0; i < COUNT(bases); i++)
        if (is_witness(bases[i], n))
            return 0;
    return 1;
}

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1, state = 88172645463325252ull;
    for (i32 i = 0; i < n; i++) {
        u64 candidate = next(&state) % 3215031751ull;
        if (is_prime(candidate))
            sum = mix(sum, candidate);
    }
    return (i64)sum;
}
