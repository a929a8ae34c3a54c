/* A compressor: matches found by a table of hashes, written as literals and (distance, length), then undone. */
#include "tiny.h"

enum { MOST = 1 << 17, TABLE = 1 << 13, SHORTEST = 4, LONGEST = 130 };
static u8 text[MOST], packed[MOST + MOST / 64 + 16], unpacked[MOST];
static u32 table[TABLE];

/* Words of a small vocabulary, with noise now and then: there is something to find. */
static void write_text(u32 size) {
    static const char words[] = "the quick brown fox jumps over one lazy dog while rain falls on tiles of blue and white ";
    u64 state = 521288629ull;
    u32 at = 0;
    while (at < size) {
        u64 word = next(&state);
        u32 from = (u32)(word % (sizeof(words) - 24)), length = 3 + (u32)(word >> 32) % 20;
        for (u32 i = 0; i < length && at < size; i++)
            text[at++] = (u8)words[from + i];
        if (word >> 60 == 0 && at < size)
            text[at++] = (u8)(word >> 40);
    }
}

static u32 hash(const u8 *at) {
    u32 word = (u32)at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24;
    return word * 2654435761u >> 19;
}

static u32 matching(const u8 *a, const u8 *b, u32 most) {
    u32 length = 0;
    while (length < most && a[length] == b[length])
        length++;
    return length;
}

static u32 literals(u32 from, u32 to, u32 out) {
    while (from < to) {
        u32 count = to - from < 128 ? to - from : 128;
        packed[out++] = (u8)(count - 1);
        for (u32 i = 0; i < count; i++)
            packed[out++] = text[from++];
    }
    return out;
}

/* A byte below 128 says how many literals follow, less one; else a length, then a distance of two bytes. */
static u32 pack(u32 size) {
    u32 at = 0, pending = 0, out = 0;
    for (u32 i = 0; i < TABLE; i++)
        table[i] = 0;
    while (at + SHORTEST <= size) {
        u32 *slot = &table[hash(text + at)];
        u32 before = *slot, length = 0;
        *slot = at + 1;
        if (before && at + 1 - before < 65536) {
            u32 most = size - at < LONGEST ? size - at : LONGEST;
            length = matching(text + before - 1, text + at, most);
        }
        if (length < SHORTEST) {
            at++;
            continue;
        }
        out = literals(pending, at, out);
        u32 distance = at + 1 - before;
        packed[out++] = (u8)(128 + length - SHORTEST);
        packed[out++] = (u8)distance;
        packed[out++] = (u8)(distance >> 8);
        pending = at += length;
    }
    return literals(pending, size, out);
}

static u32 unpack(u32 size) {
    u32 at = 0, out = 0;
    while (at < size) {
        u32 head = packed[at++];
        if (head < 128) {
            for (u32 i = 0; i <= head; i++)
                unpacked[out++] = packed[at++];
        } else {
            u32 distance = packed[at] | (u32)packed[at + 1] << 8;
            at += 2;
            for (u32 i = 0; i < head - 128 + SHORTEST; i++, out++)
                unpacked[out] = unpacked[out - distance];
        }
    }
    return out;
}

EXPORT(run) i64 run(i32 n) {
    u32 size = n < MOST ? (u32)n : MOST;
    write_text(size);
    u32 length = pack(size);
    if (unpack(length) != size)
        return -1;
    u64 sum = length;
    for (u32 i = 0; i < size; i++) {
        if (unpacked[i] != text[i])
            return -2;
    }
    for (u32 i = 0; i < length; i++)
        sum = mix(sum, packed[i]);
    return (i64)sum;
}
