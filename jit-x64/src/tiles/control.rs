//! Ends of blocks, users of flags, calls, and values at entry.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::control::*;
use crate::emit::Cond;
use crate::emit::stack_mem;
use crate::encode::{Alu, Immediate, Mem, alu_word, load_known};
use crate::regs;
use azulejo_code::emit::leave::*;
use azulejo_code::emit::leave_with_state;
use azulejo_core::ir::interpreted::Record;
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group control;
    use super::address;

    tc: (tc) -> reg, 0, entry, fixed(out = rdi) => |cx, t| { let _ = (cx, t); },
    local: (local) -> reg, 0, entry, fixed(out = rsi) => |cx, t| { let _ = (cx, t); },
    cu: (cu) -> reg, 0, entry, fixed(out = rdx) => |cx, t| { let _ = (cx, t); },
    stack: (stack) -> reg, 1, framed => |cx, t| cx.mov(t.out(), regs::RSP.number()),
    copy: (copy.$t:int reg) -> reg, 1 => |cx, t| cx.mov(t.out(), t.reg(0)),
    copyf: (copy.$t:float num) -> num, 1 => |cx, t| cx.movaps(t.out(), t.reg(0)),
    // inverting a flag costs nothing
    notf: (notf flag) -> flag, 0 => |cx, t| { let _ = t; let condition = cx.condition(); cx.flag(condition.inverted()) },
    flagval: (flagval.$t:int flag) -> reg, 3, temp(int) => |cx, t| flag_value(cx, t),
    select: (select.$t:int flag reg reg) -> reg, 3, tied(1) => |cx, t| choose(cx, t),
    selectf: (select.$t:float flag num num) -> num, 5, tied(1) => |cx, t| choose_float(cx, t),
    jump: (jump) -> void, 1 => |cx, t| { let _ = t; cx.jump() },
    br: (br flag) -> void, 1 => |cx, t| { let _ = t; cx.branch() },
    // cmp [word], 0 and sub [word], 1
    poll: (poll $word) -> reg, 4 => |cx, t| load_known(cx, t.out(), t.imm(0) as u64),
    poll_nz: (nz.i64 (poll $word)) -> flag, 3 => |cx, t| { alu_word(cx, Alu::Cmp, t.imm(0) as u64, 0); cx.flag(Cond::Ne) },
    spend: (spend $word) -> reg, 7 => |cx, t| { alu_word(cx, Alu::Sub, t.imm(0) as u64, 1); load_known(cx, t.out(), t.imm(0) as u64) },
    spend_lt: (lt.i64 (spend $word) (const $c:zero)) -> flag, 5 => |cx, t| { alu_word(cx, Alu::Sub, t.imm(0) as u64, 1); cx.flag(Cond::S) },
    spend_at: (spend_at.$t:int near) -> reg, 9 => |cx, t| { cx.alu(Alu::Sub, t.sig.ty, near, Immediate(1)); cx.load(t.sig.ty, t.out(), near) },
    spend_at_lt: (lt.$t:int (spend_at.$t near) (const $c:zero)) -> flag, 6 => |cx, t| { cx.alu(Alu::Sub, t.sig.from, near, Immediate(1)); cx.flag(Cond::S) },
    switch: (switch reg) -> void, 8, temp(int), temp(int) => |cx, t| cx.switch(t.reg(0), t.temp(0), t.temp(1)),
    ret: (ret) -> void, 2 => |cx, t| { let _ = t; give_back(cx, None) },
    return_int: (return.$t:int reg) -> void, 2, fixed(0 = rdx) => |cx, t| give_back(cx, Some(t.sig.from)),
    return_float: (return.$t:float num) -> void, 3 => |cx, t| { cx.bitcast(t.sig.from, regs::RDX.number(), t.reg(0)); leave_with(cx, 0) },
    exit_at: (exit_at $at) -> void, 3 => |cx, t| exit(cx, t.imm(0)),
    exit_with: (exit_with $state) -> void, 3 => |cx, t| leave_with_state(cx, t),
    trap: (trap $code) -> void, 3, framed => |cx, t| trap(cx, t.imm(0), t.origin),
    tailed: (tailed) -> void, 3 => |cx, t| { let _ = t; tail(cx) },
    // functions that others of bytecode call by their own convention
    argument0: (argument0) -> reg, 0, entry, fixed(out = rdx) => |cx, t| { let _ = (cx, t); },
    argument1: (argument1) -> reg, 0, entry, fixed(out = rcx) => |cx, t| { let _ = (cx, t); },
    argument2: (argument2) -> reg, 0, entry, fixed(out = r8) => |cx, t| { let _ = (cx, t); },
    argument3: (argument3) -> reg, 0, entry, fixed(out = r9) => |cx, t| { let _ = (cx, t); },
    argument4: (argument4) -> reg, 0, entry, fixed(out = r10) => |cx, t| { let _ = (cx, t); },
    argument_on_stack: (argument_on_stack $at) -> reg, 4 => |cx, t| { let at = cx.argument_at(t.imm(0)); cx.load(Type::I64, t.out(), Mem::at(regs::RSP.number(), at)) },
    frame: (frame) -> reg, 1, framed => |cx, t| { let slots = stack_mem(cx.room); cx.lea(true, t.out(), slots) },
    give: (give.i64 reg) -> void, 2, fixed(0 = rax) => |cx, t| { let _ = t; succeed(cx) },
    fail: (fail $code) -> void, 3, framed => |cx, t| fail_with(cx, t.imm(0), t.origin),
    hand_over: (hand_over $state) -> void, 20 => |cx, t| leave_with_state(cx, t),
    // stencils: the registers that are kept from bytecode to bytecode
    kept_tc: (kept_tc) -> reg, 0, entry, fixed(out = r12) => |cx, t| { let _ = (cx, t); },
    kept_local: (kept_local) -> reg, 0, entry, fixed(out = rbx) => |cx, t| { let _ = (cx, t); },
    kept_cu: (kept_cu) -> reg, 1 => |cx, t| cx.mov(t.out(), regs::KEPT_CU.number()),
    pinned0: (pinned0) -> reg, 0, entry, fixed(out = r14) => |cx, t| { let _ = (cx, t); },
    pinned1: (pinned1) -> reg, 0, entry, fixed(out = r15) => |cx, t| { let _ = (cx, t); },
    hole: (hole $v) -> reg, 1 => |cx, t| cx.mov_imm(t.out(), t.imm(0) as u64),
    cached: (cached.i64) -> reg, 0, entry, fixed(out = rax) => |cx, t| { let _ = (cx, t); },
    cachedf: (cached.$t:float) -> num, 0, entry, fixed(out = xmm0) => |cx, t| { let _ = (cx, t); },
    continue_at: (continue reg reg $exit) -> void, 1, fixed(0 = r12), fixed(1 = rbx) => |cx, t| continue_at(cx, t.imm(0)),
    continue_with: (continue_with.$t:int reg reg reg $exit) -> void, 1, fixed(0 = r12), fixed(1 = rbx), fixed(2 = rax) => |cx, t| continue_at(cx, t.imm(0)),
    continue_withf: (continue_with.$t:float reg reg num $exit) -> void, 1, fixed(0 = r12), fixed(1 = rbx), fixed(2 = xmm0) => |cx, t| continue_at(cx, t.imm(0)),
    continue_to: (continue_to reg reg reg) -> void, 1, fixed(0 = r12), fixed(1 = rbx) => |cx, t| cx.jmp_to(t.reg(2)),
    // interpreted opcodes: operands in the bytecode, and what is kept in registers of their own
    field: (field $o) -> reg, 4 => |cx, t| load_field(cx, t),
    field_float: (bitcast.i64.f64 (field $o)) -> num, 4 => |cx, t| { let (_, place) = field(t); cx.load(Type::F64, t.out(), place) },
    record: (record $o) -> reg, 4 => |cx, t| cx.load(Type::I64, t.out(), Mem::at(regs::INTERPRETED[1].number(), Record::offset_in(t.imm(0) as u64) as i64)),
    kept_pc: (kept_pc) -> reg, 0, entry, fixed(out = r13) => |cx, t| { let _ = (cx, t); },
    kept_top: (kept_top) -> reg, 0, entry, fixed(out = r15) => |cx, t| { let _ = (cx, t); },
    dispatch: (dispatch reg reg $d) -> void, 1, fixed(0 = r12), fixed(1 = rbx) => |cx, t| dispatch(cx, None, t.imm(0)),
    dispatch_to: (dispatch_to reg reg reg $d) -> void, 1, fixed(0 = r12), fixed(1 = rbx) => |cx, t| dispatch(cx, Some(t.reg(2)), t.imm(0)),
    leave_at: (leave_at reg) -> void, 3, fixed(0 = rdx) => |cx, t| { let _ = t; leave_at(cx) },
    // calls: the allocator has put everything in place
    call_int: (call.$t:int $f) -> reg, 20 => |cx, t| call_known(cx, t),
    call_int_reg: (call.$t:int reg) -> reg, 20 => |cx, t| cx.call(t.reg(0)),
    call_float: (call.$t:float $f) -> num, 20 => |cx, t| call_known(cx, t),
    call_float_reg: (call.$t:float reg) -> num, 20 => |cx, t| cx.call(t.reg(0)),
    callv: (callv $f) -> void, 20 => |cx, t| call_known(cx, t),
    callv_reg: (callv reg) -> void, 20 => |cx, t| cx.call(t.reg(0)),
    call_or_fail: (call_or_fail.i64 $f) -> reg, 20 => |cx, t| { call_known(cx, t); expect_result(cx, t.origin) },
    // calls between functions of bytecode
    invoke: (invoke.i64 $f) -> reg, 20 => |cx, t| { cx.mov_imm(regs::RSI.number(), t.imm(0) as u64); invoke(cx, t.operands() - 1, t.origin) },
    invoke_reg: (invoke.i64 reg) -> reg, 20, fixed(0 = rsi) => |cx, t| invoke(cx, t.operands() - 2, t.origin),
    invoke_spread: (invoke_spread.i64 $f) -> reg, 30 => |cx, t| { cx.mov_imm(regs::RSI.number(), t.imm(0) as u64); invoke_from_memory(cx, t.origin) },
    invoke_spread_reg: (invoke_spread.i64 reg) -> reg, 30, fixed(0 = rsi) => |cx, t| invoke_from_memory(cx, t.origin),
    tail_invoke: (tail_invoke $f) -> void, 10 => |cx, t| { cx.mov_imm(regs::RSI.number(), t.imm(0) as u64); tail_invoke(cx, t.operands() - 1) },
    tail_invoke_reg: (tail_invoke reg) -> void, 10, fixed(0 = rsi) => |cx, t| tail_invoke(cx, t.operands() - 2),
    // the same calls where the function goes on if they fail
    try_call: (try_call.i64 $f) -> reg, 20 => |cx, t| call_known(cx, t),
    try_invoke: (try_invoke.i64 $f) -> reg, 20 => |cx, t| { cx.mov_imm(regs::RSI.number(), t.imm(0) as u64); try_invoke(cx, t.operands() - 1) },
    try_invoke_reg: (try_invoke.i64 reg) -> reg, 20, fixed(0 = rsi) => |cx, t| try_invoke(cx, t.operands() - 2),
    try_invoke_spread: (try_invoke_spread.i64 $f) -> reg, 30 => |cx, t| { cx.mov_imm(regs::RSI.number(), t.imm(0) as u64); try_invoke_from_memory(cx) },
    try_invoke_spread_reg: (try_invoke_spread.i64 reg) -> reg, 30, fixed(0 = rsi) => |cx, t| { let _ = t; try_invoke_from_memory(cx) },
    failure: (failure.i32 reg) -> reg, 0, fixed(out = rdx) => |cx, t| { let _ = (cx, t); },
    // call [mem]
    call_int: (call.$t:int (load.i64 mem)) -> reg, 23 => |cx, t| cx.call(mem),
    call_float: (call.$t:float (load.i64 mem)) -> num, 23 => |cx, t| cx.call(mem),
    callv: (callv (load.i64 mem)) -> void, 23 => |cx, t| cx.call(mem),
}
