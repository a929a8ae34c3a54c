/* f64 kernel: five bodies that attract each other, n steps; divisions, square roots, many values alive at once. */
#include "tiny.h"

struct body {
    double at[3], speed[3], mass;
};

enum { BODIES = 5 };
static struct body bodies[BODIES];

static void start(void) {
    u64 state = 20011ull;
    for (u32 i = 0; i < BODIES; i++) {
        for (u32 axis = 0; axis < 3; axis++) {
            bodies[i].at[axis] = (double)(i64)(next(&state) % 2001) / 100.0 - 10.0;
            bodies[i].speed[axis] = (double)(i64)(next(&state) % 2001) / 1000.0 - 1.0;
        }
        bodies[i].mass = 1.0 + (double)i * 2.5;
    }
}

static void attract(struct body *one, struct body *other, double time) {
    double x = one->at[0] - other->at[0], y = one->at[1] - other->at[1], z = one->at[2] - other->at[2];
    double square = x * x + y * y + z * z + 0.01;
    double pull = time / (square * __builtin_sqrt(square));
    double by_other = other->mass * pull, by_one = one->mass * pull;
    one->speed[0] -= x * by_other;
    one->speed[1] -= y * by_other;
    one->speed[2] -= z * by_other;
    other->speed[0] += x * by_one;
    other->speed[1] += y * by_one;
    other->speed[2] += z * by_one;
}

static void advance(double time) {
    for (u32 i = 0; i < BODIES; i++)
        for (u32 j = i + 1; j < BODIES; j++)
            attract(&bodies[i], &bodies[j], time);
    for (u32 i = 0; i < BODIES; i++)
        for (u32 axis = 0; axis < 3; axis++)
            bodies[i].at[axis] += time * bodies[i].speed[axis];
}

EXPORT(run) i64 run(i32 n) {
    start();
    for (i32 i = 0; i < n; i++)
        advance(1.0 / 1024.0);
    u64 sum = 1;
    for (u32 i = 0; i < BODIES; i++)
        for (u32 axis = 0; axis < 3; axis++)
            sum = mix(sum, bits(bodies[i].at[axis]));
    return (i64)sum;
}
