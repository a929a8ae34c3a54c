/* A stack machine and a program for it, which machine.c and threaded.c run in their own ways. */
#ifndef MACHINE_H
#define MACHINE_H

#include "tiny.h"

enum op { PUSH, LOAD, STORE, ADD, MULTIPLY, SHIFT, AND, XOR, LESS, JUMP, JUMP_IF_ZERO, HALT, OPS };

struct instruction {
    u32 op;
    i32 operand;
};

/* What the cells of the machine hold. */
enum cell { NUMBER, BOUND, X, STEPS, CELLS };

/* Counts the steps of the sequences of Collatz that start below the bound. */
static const struct instruction code[] = {
    /*  0: next number */ {LOAD, NUMBER}, {LOAD, BOUND}, {LESS, 0}, {JUMP_IF_ZERO, 36},
    /*  4 */ {LOAD, NUMBER}, {STORE, X},
    /*  6: next step */ {LOAD, X}, {PUSH, 1}, {XOR, 0}, {JUMP_IF_ZERO, 31},
    /* 10 */ {LOAD, X}, {PUSH, 1}, {AND, 0}, {JUMP_IF_ZERO, 21},
    /* 14: odd */ {LOAD, X}, {PUSH, 3}, {MULTIPLY, 0}, {PUSH, 1}, {ADD, 0}, {STORE, X}, {JUMP, 25},
    /* 21: even */ {LOAD, X}, {PUSH, 1}, {SHIFT, 0}, {STORE, X},
    /* 25 */ {LOAD, STEPS}, {PUSH, 1}, {ADD, 0}, {STORE, STEPS}, {JUMP, 6}, {HALT, 0},
    /* 31: one is reached */ {LOAD, NUMBER}, {PUSH, 1}, {ADD, 0}, {STORE, NUMBER}, {JUMP, 0},
    /* 36: the bound is reached */ {HALT, 0},
};

#endif
