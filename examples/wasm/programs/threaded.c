/* The same interpreter with a function for each instruction that ends in a tail call of the next
   (return_call_indirect); the state is in its arguments. */
#include "machine.h"

typedef i64 handler(const struct instruction *at, i64 *top, i64 *cells);
static handler push, load, store, add, multiply, shift, and, xor, less, jump, jump_if_zero, halt;

static handler *const handlers[OPS] = {
    push, load, store, add, multiply, shift, and, xor, less, jump, jump_if_zero, halt,
};

#define CONTINUE(at) __attribute__((musttail)) return handlers[(at)->op]((at), top, cells)

static i64 push(const struct instruction *at, i64 *top, i64 *cells) {
    *++top = at->operand;
    CONTINUE(at + 1);
}

static i64 load(const struct instruction *at, i64 *top, i64 *cells) {
    *++top = cells[at->operand];
    CONTINUE(at + 1);
}

static i64 store(const struct instruction *at, i64 *top, i64 *cells) {
    cells[at->operand] = *top--;
    CONTINUE(at + 1);
}

#define BINARY(name, operation)                                                  \
    static i64 name(const struct instruction *at, i64 *top, i64 *cells) {        \
        i64 right = *top--, left = *top;                                         \
        *top = operation;                                                        \
        CONTINUE(at + 1);                                                        \
    }

BINARY(add, left + right)
BINARY(multiply, left * right)
BINARY(shift, left >> (right & 63))
BINARY(and, left & right)
BINARY(xor, left ^ right)
BINARY(less, left < right)

static i64 jump(const struct instruction *at, i64 *top, i64 *cells) {
    CONTINUE(code + at->operand);
}

static i64 jump_if_zero(const struct instruction *at, i64 *top, i64 *cells) {
    if (*top-- == 0)
        CONTINUE(code + at->operand);
    CONTINUE(at + 1);
}

static i64 halt(const struct instruction *at, i64 *top, i64 *cells) {
    (void)at;
    (void)top;
    return cells[STEPS];
}

EXPORT(run) i64 run(i32 n) {
    i64 cells[CELLS] = {[NUMBER] = 1, [BOUND] = n}, stack[16];
    return handlers[code->op](code, stack, cells);
}
