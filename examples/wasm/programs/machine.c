/* A small interpreter: a stack machine with a loop around a switch, which becomes a jump table (br_table). */
#include "machine.h"

static i64 cells[CELLS], stack[16];

static void interpret(void) {
    i64 *top = stack;
    for (const struct instruction *at = code;; at++) {
        switch (at->op) {
        case PUSH: *++top = at->operand; break;
        case LOAD: *++top = cells[at->operand]; break;
        case STORE: cells[at->operand] = *top--; break;
        case ADD: top--, top[0] += top[1]; break;
        case MULTIPLY: top--, top[0] *= top[1]; break;
        case SHIFT: top--, top[0] >>= top[1] & 63; break;
        case AND: top--, top[0] &= top[1]; break;
        case XOR: top--, top[0] ^= top[1]; break;
        case LESS: top--, top[0] = top[0] < top[1]; break;
        case JUMP: at = code + at->operand - 1; break;
        case JUMP_IF_ZERO:
            if (*top-- == 0)
                at = code + at->operand - 1;
            break;
        default: return;
        }
    }
}

EXPORT(run) i64 run(i32 n) {
    cells[NUMBER] = 1;
    cells[BOUND] = n;
    cells[STEPS] = 0;
    interpret();
    return cells[STEPS];
}
