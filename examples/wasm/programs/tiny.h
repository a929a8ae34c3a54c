/* All that the programs have in place of a C library: types of stated width, a checksum, random numbers.

   The same sources are compiled natively to learn which checksum is right, so nothing here may depend on the width
   of a pointer, on the order of evaluation or on contraction of floats. */
#ifndef TINY_H
#define TINY_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What the host may call. */
#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(module, name) __attribute__((import_module(#module), import_name(name)))
#else
#define EXPORT(name)
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Folds a value into a checksum; the order counts. */
static inline u64 mix(u64 sum, u64 value) {
    sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
    return sum ^ (sum >> 29);
}

/* The bits of a float, to put it into a checksum. */
static inline u64 bits(double value) {
    union {
        double value;
        u64 bits;
    } both = {value};
    return both.bits;
}

/* Marsaglia's xorshift; the state must not be zero. */
static inline u64 next(u64 *state) {
    u64 x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

#endif
