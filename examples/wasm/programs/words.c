/* String processing: text is written, cut into words, searched, and the words are counted in a table by their names. */
#include "tiny.h"

enum { MOST = 1 << 16, NAME = 16, SLOTS = 4096 };
static char text[MOST];

struct entry {
    char name[NAME];
    u32 count;
};
static struct entry entries[SLOTS];

static u32 length_of(const char *it) {
    u32 length = 0;
    while (it[length])
        length++;
    return length;
}

static int is_same(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int is_letter(char it) {
    return (it >= 'a' && it <= 'z') || (it >= 'A' && it <= 'Z');
}

static char lower(char it) {
    return it >= 'A' && it <= 'Z' ? (char)(it - 'A' + 'a') : it;
}

static char *write_number(char *to, u32 value) {
    char digits[10];
    u32 count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* Sentences of words made of syllables, with numbers among them. */
static void write_text(u32 size) {
    static const char syllables[][4] = {"zu", "la", "ri", "ko", "ne", "ta", "mo", "si"};
    u64 state = 1181783497276652981ull;
    char *at = text, *end = text + size - 48;
    while (at < end) {
        u64 word = next(&state);
        u32 count = 1 + (u32)(word & 3);
        char *start = at;
        for (u32 i = 0; i < count; i++)
            for (const char *from = syllables[word >> (8 + 3 * i) & 7]; *from;)
                *at++ = *from++;
        if ((word >> 40 & 15) == 0)
            *start = (char)(*start - 'a' + 'A');
        if ((word >> 48 & 7) == 0)
            *at++ = ' ', at = write_number(at, (u32)(word >> 50));
        if ((word >> 56 & 15) == 0)
            *at++ = '.';
        *at++ = ' ';
    }
    *at = 0;
}

static struct entry *find(const char *name) {
    u32 slot = 2166136261u;
    for (const char *at = name; *at; at++)
        slot = (slot ^ (u8)*at) * 16777619u;
    for (slot %= SLOTS; entries[slot].name[0]; slot = (slot + 1) % SLOTS)
        if (is_same(entries[slot].name, name))
            break;
    return &entries[slot];
}

static void count_words(void) {
    for (const char *at = text; *at;) {
        char name[NAME];
        u32 length = 0;
        for (; is_letter(*at) && length < NAME - 1; at++)
            name[length++] = lower(*at);
        name[length] = 0;
        if (!length) {
            at++;
            continue;
        }
        struct entry *entry = find(name);
        for (u32 i = 0; i <= length; i++)
            entry->name[i] = name[i];
        entry->count++;
    }
}

static u32 add_numbers(void) {
    u32 sum = 0;
    for (const char *at = text; *at; at++) {
        u32 value = 0;
        while (*at >= '0' && *at <= '9')
            value = value * 10 + (u32)(*at++ - '0');
        sum += value;
        if (!*at)
            break;
    }
    return sum;
}

/* Searches as Horspool did, with skips for what cannot match. */
static u32 search(const char *pattern) {
    u32 skips[256], length = length_of(pattern), size = length_of(text), found = 0;
    for (u32 i = 0; i < 256; i++)
        skips[i] = length;
    for (u32 i = 0; i + 1 < length; i++)
        skips[(u8)pattern[i]] = length - 1 - i;
    for (u32 at = 0; at + length <= size; at += skips[(u8)text[at + length - 1]]) {
        u32 i = length;
        while (i && text[at + i - 1] == pattern[i - 1])
            i--;
        found += !i;
    }
    return found;
}

/* n is the size of the text in kilobytes, at most 64. */
EXPORT(run) i64 run(i32 n) {
    write_text((u32)n * 1024);
    for (u32 i = 0; i < SLOTS; i++)
        entries[i] = (struct entry){{0}, 0};
    count_words();
    u64 sum = 1;
    for (u32 i = 0; i < SLOTS; i++)
        sum = mix(sum, entries[i].count);
    sum = mix(sum, add_numbers());
    sum = mix(sum, search("lazu"));
    return (i64)mix(sum, search("korine"));
}
