/* Indirect calls: objects of four classes behind a table of functions each, called in an order no one can guess. */
#include "tiny.h"

struct shape;
struct class {
    i64 (*area)(const struct shape *);
    void (*grow)(struct shape *, i32);
    i32 (*corners)(void);
};
struct shape {
    const struct class *class;
    i32 a, b;
};

static i64 square_area(const struct shape *it) { return (i64)it->a * it->a; }
static void square_grow(struct shape *it, i32 by) { it->a = (it->a + by) & 1023; }
static i32 square_corners(void) { return 4; }

static i64 rectangle_area(const struct shape *it) { return (i64)it->a * it->b; }
static void rectangle_grow(struct shape *it, i32 by) {
    it->a = (it->a + by) & 1023;
    it->b = (it->b - by) & 511;
}

static i64 triangle_area(const struct shape *it) { return (i64)it->a * it->b / 2; }
static i32 triangle_corners(void) { return 3; }

static i64 circle_area(const struct shape *it) { return (i64)it->a * it->a * 355 / 113; }
static void circle_grow(struct shape *it, i32 by) { it->a = (it->a ^ by) & 2047; }
static i32 circle_corners(void) { return 0; }

static const struct class classes[] = {
    {square_area, square_grow, square_corners},
    {rectangle_area, rectangle_grow, square_corners},
    {triangle_area, rectangle_grow, triangle_corners},
    {circle_area, circle_grow, circle_corners},
};

static struct shape shapes[256];

EXPORT(run) i64 run(i32 n) {
    u64 sum = 1, state = 4101842887655102017ull;
    for (u32 i = 0; i < COUNT(shapes); i++) {
        u64 word = next(&state);
        shapes[i] = (struct shape){&classes[word >> 62], (i32)(word & 255), (i32)(word >> 8 & 255)};
    }
    for (i32 i = 0; i < n; i++) {
        struct shape *it = &shapes[next(&state) >> 56];
        it->class->grow(it, i & 63);
        sum += (u64)it->class->area(it) * (u64)(it->class->corners() + 1);
    }
    return (i64)mix(sum, state);
}
