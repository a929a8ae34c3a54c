/* A hash: SHA-256 (FIPS 180-4) of n bytes; rotations and additions of 32 bits, long chains. */
#include "tiny.h"

static const u32 constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static u32 turn(u32 x, u32 by) {
    return x >> by | x << (32 - by);
}

static void block(u32 state[8], const u8 *bytes) {
    u32 words[64], v[8];
    for (u32 i = 0; i < 16; i++, bytes += 4)
        words[i] = (u32)bytes[0] << 24 | (u32)bytes[1] << 16 | (u32)bytes[2] << 8 | bytes[3];
    for (u32 i = 16; i < 64; i++) {
        u32 early = words[i - 15], late = words[i - 2];
        u32 s0 = turn(early, 7) ^ turn(early, 18) ^ early >> 3, s1 = turn(late, 17) ^ turn(late, 19) ^ late >> 10;
        words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    for (u32 i = 0; i < 8; i++)
        v[i] = state[i];
    for (u32 i = 0; i < 64; i++) {
        u32 s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
        u32 choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        u32 first = v[7] + s1 + choice + constants[i] + words[i];
        u32 s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        u32 majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + first;
        v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = first + s0 + majority;
    }
    for (u32 i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The first eight bytes of the digest of n bytes 'a'. */
EXPORT(run) i64 run(i32 n) {
    u32 state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u8 bytes[64];
    u64 length = (u64)n, at = 0;
    u64 padded = (length + 9 + 63) / 64 * 64;
    for (; at < padded; at++) {
        u8 byte = 0;
        if (at < length)
            byte = 'a';
        else if (at == length)
            byte = 0x80;
        else if (at >= padded - 8)
            byte = (u8)(length * 8 >> (padded - 1 - at) * 8);
        bytes[at % 64] = byte;
        if (at % 64 == 63)
            block(state, bytes);
    }
    return (i64)((u64)state[0] << 32 | state[1]);
}
