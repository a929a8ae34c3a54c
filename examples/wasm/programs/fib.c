/* Recursion: two calls a level, and nothing else. */
#include "tiny.h"

__attribute__((noinline)) static u32 fib(u32 n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

EXPORT(run) i64 run(i32 n) {
    return fib((u32)n);
}
