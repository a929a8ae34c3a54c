//! The tiles: an instruction for nearly every operator.

use crate::instruction::{Code, Word};
use crate::regs::*;
use azulejo_code::emit::leave::*;
use azulejo_code::emit::leave_with_state;
use azulejo_core::ir::interpreted::{Field, Record};
use azulejo_core::vocab::{Class, Op, Sig, Type};
use azulejo_macros::{tile, tileset};

tileset! {
    pub static TOY:
    machine = crate;
    features = ;
    groups = crate::tiles;
}

const WIDE: Sig = Sig { from: Type::Void, ty: Type::I64 };

tile! {
    pub group toy;

    // memory
    load: (load.$t:int reg) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), t.reg(0), 0),
    load_addr: (load.$t:int (addr reg $o)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), t.reg(0), t.imm(0)),
    load_float: (load.$t:float reg) -> num, 4 => |cx, t| cx.load(t.sig.ty, t.out(), t.reg(0), 0),
    load_float_addr: (load.$t:float (addr reg $o)) -> num, 4 => |cx, t| cx.load(t.sig.ty, t.out(), t.reg(0), t.imm(0)),
    store: (store.$t:int reg reg) -> void, 4 => |cx, t| cx.store(t.sig.from, t.reg(0), 0, t.reg(1)),
    store_addr: (store.$t:int (addr reg $o) reg) -> void, 4 => |cx, t| cx.store(t.sig.from, t.reg(0), t.imm(0), t.reg(1)),
    store_float: (store.$t:float reg num) -> void, 4 => |cx, t| cx.store(t.sig.from, t.reg(0), 0, t.reg(1)),
    store_float_addr: (store.$t:float (addr reg $o) num) -> void, 4 => |cx, t| cx.store(t.sig.from, t.reg(0), t.imm(0), t.reg(1)),
    addr: (addr reg $o) -> reg, 2 => |cx, t| cx.add(t.out(), t.reg(0), t.imm(0)),
    idx: (idx reg reg $s) -> reg, 4 => |cx, t| {
        let temp = TEMP.number();
        cx.constant(temp, t.imm(0) as u64);
        cx.operate(Op::MUL, WIDE, temp, [t.reg(1), temp]);
        cx.operate(Op::ADD, WIDE, t.out(), [t.reg(0), temp]);
    },
    atomic_load: (atomic_load.$t:int reg $o) -> reg, 20 => |cx, t| cx.load(t.sig.ty, t.out(), t.reg(0), 0),
    atomic_store: (atomic_store.$t:int reg reg $o) -> void, 20 => |cx, t| cx.store(t.sig.from, t.reg(0), 0, t.reg(1)),
    atomic_swap: (atomic_swap.$t:int reg reg $o) -> reg, 20, early => |cx, t| cx.atomic(Op::ATOMIC_SWAP, t),
    atomic_add: (atomic_add.$t:int reg reg $o) -> reg, 20, early => |cx, t| cx.atomic(Op::ATOMIC_ADD, t),
    atomic_and: (atomic_and.$t:int reg reg $o) -> reg, 20, early => |cx, t| cx.atomic(Op::ATOMIC_AND, t),
    atomic_or: (atomic_or.$t:int reg reg $o) -> reg, 20, early => |cx, t| cx.atomic(Op::ATOMIC_OR, t),
    atomic_xor: (atomic_xor.$t:int reg reg $o) -> reg, 20, early => |cx, t| cx.atomic(Op::ATOMIC_XOR, t),
    atomic_cas: (atomic_cas.$t:int reg reg reg $o) -> reg, 20, tied(1) => |cx, t| {
        cx.word(Word::of(Code::Atomic, [t.out(), t.reg(0), t.reg(2)]).operator(Op::ATOMIC_CAS).typed(t.sig));
    },
    // constants
    constant: (const.$t:int $c) -> reg, 2 => |cx, t| cx.constant(t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    constant_float: (const.$t:float $c) -> num, 4 => |cx, t| cx.float_constant(t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    copy: (copy.$t:int reg) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), t.reg(0)),
    copy_float: (copy.$t:float num) -> num, 1 => |cx, t| cx.transfer(Class::Float, t.out(), t.reg(0)),
    // comparisons, whose result goes to the flag register
    lt: (lt.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::LT, t, 2),
    le: (le.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::LE, t, 2),
    eq: (eq.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::EQ, t, 2),
    ne: (ne.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::NE, t, 2),
    ge: (ge.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::GE, t, 2),
    gt: (gt.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::GT, t, 2),
    ult: (ult.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::ULT, t, 2),
    ule: (ule.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::ULE, t, 2),
    uge: (uge.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::UGE, t, 2),
    ugt: (ugt.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::UGT, t, 2),
    nz: (nz.$t:int reg) -> flag, 2 => |cx, t| cx.by_operator(Op::NZ, t, 1),
    zr: (zr.$t:int reg) -> flag, 2 => |cx, t| cx.by_operator(Op::ZR, t, 1),
    lt_float: (lt.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::LT, t, 2),
    le_float: (le.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::LE, t, 2),
    eq_float: (eq.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::EQ, t, 2),
    ne_float: (ne.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::NE, t, 2),
    ge_float: (ge.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::GE, t, 2),
    gt_float: (gt.$t:float num num) -> flag, 2 => |cx, t| cx.by_operator(Op::GT, t, 2),
    addo: (addo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::ADDO, t, 2),
    subo: (subo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::SUBO, t, 2),
    mulo: (mulo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::MULO, t, 2),
    uaddo: (uaddo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::UADDO, t, 2),
    usubo: (usubo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::USUBO, t, 2),
    umulo: (umulo.$t:int reg reg) -> flag, 2 => |cx, t| cx.by_operator(Op::UMULO, t, 2),
    // flags
    notf: (notf flag) -> flag, 1 => |cx, t| cx.operate(Op::NOTF, t.sig, FLAG.number(), [FLAG.number(), 0]),
    flagval: (flagval.$t:int flag) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), FLAG.number()),
    select: (select.$t:int flag reg reg) -> reg, 2 => |cx, t| cx.word(Word::of(Code::Select, [t.out(), t.reg(0), t.reg(1)]).of_type(t.sig.ty)),
    select_float: (select.$t:float flag num num) -> num, 2 => |cx, t| cx.word(Word::of(Code::Select, [t.out(), t.reg(0), t.reg(1)]).of_type(t.sig.ty)),
    br: (br flag) -> void, 1 => |cx, t| { let _ = t; cx.branch() },
    // arithmetic
    add: (add.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::ADD, t, 2),
    sub: (sub.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::SUB, t, 2),
    mul: (mul.$t:int reg reg) -> reg, 4 => |cx, t| cx.by_operator(Op::MUL, t, 2),
    div: (div.$t:int reg reg) -> reg, 30 => |cx, t| cx.by_operator(Op::DIV, t, 2),
    udiv: (udiv.$t:int reg reg) -> reg, 30 => |cx, t| cx.by_operator(Op::UDIV, t, 2),
    rem: (rem.$t:int reg reg) -> reg, 30 => |cx, t| cx.by_operator(Op::REM, t, 2),
    urem: (urem.$t:int reg reg) -> reg, 30 => |cx, t| cx.by_operator(Op::UREM, t, 2),
    mulhi: (mulhi.$t:int reg reg) -> reg, 5 => |cx, t| cx.by_operator(Op::MULHI, t, 2),
    umulhi: (umulhi.$t:int reg reg) -> reg, 5 => |cx, t| cx.by_operator(Op::UMULHI, t, 2),
    neg: (neg.$t:int reg) -> reg, 2 => |cx, t| cx.by_operator(Op::NEG, t, 1),
    and: (and.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::AND, t, 2),
    or: (or.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::OR, t, 2),
    xor: (xor.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::XOR, t, 2),
    not: (not.$t:int reg) -> reg, 2 => |cx, t| cx.by_operator(Op::NOT, t, 1),
    shl: (shl.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::SHL, t, 2),
    shr: (shr.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::SHR, t, 2),
    sar: (sar.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::SAR, t, 2),
    rotl: (rotl.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::ROTL, t, 2),
    rotr: (rotr.$t:int reg reg) -> reg, 2 => |cx, t| cx.by_operator(Op::ROTR, t, 2),
    clz: (clz.$t:int reg) -> reg, 2 => |cx, t| cx.by_operator(Op::CLZ, t, 1),
    ctz: (ctz.$t:int reg) -> reg, 2 => |cx, t| cx.by_operator(Op::CTZ, t, 1),
    popcnt: (popcnt.$t:int reg) -> reg, 2 => |cx, t| cx.by_operator(Op::POPCNT, t, 1),
    bswap: (bswap reg) -> reg, 2 => |cx, t| cx.by_operator(Op::BSWAP, t, 1),
    // floats
    add_float: (add.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::ADD, t, 2),
    sub_float: (sub.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::SUB, t, 2),
    mul_float: (mul.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::MUL, t, 2),
    div_float: (div.$t:float num num) -> num, 13 => |cx, t| cx.by_operator(Op::DIV, t, 2),
    min: (min.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::MIN, t, 2),
    max: (max.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::MAX, t, 2),
    copysign: (copysign.$t:float num num) -> num, 4 => |cx, t| cx.by_operator(Op::COPYSIGN, t, 2),
    neg_float: (neg.$t:float num) -> num, 2 => |cx, t| cx.by_operator(Op::NEG, t, 1),
    abs: (abs.$t:float num) -> num, 2 => |cx, t| cx.by_operator(Op::ABS, t, 1),
    sqrt: (sqrt.$t:float num) -> num, 15 => |cx, t| cx.by_operator(Op::SQRT, t, 1),
    floor: (floor.$t:float num) -> num, 4 => |cx, t| cx.by_operator(Op::FLOOR, t, 1),
    ceil: (ceil.$t:float num) -> num, 4 => |cx, t| cx.by_operator(Op::CEIL, t, 1),
    trunc: (trunc.$t:float num) -> num, 4 => |cx, t| cx.by_operator(Op::TRUNC, t, 1),
    nearest: (nearest.$t:float num) -> num, 4 => |cx, t| cx.by_operator(Op::NEAREST, t, 1),
    canonical_nan: (canonical_nan.$t:float num) -> num, 2 => |cx, t| cx.by_operator(Op::CANONICAL_NAN, t, 1),
    // conversions
    scast: (scast reg) -> reg, 2 => |cx, t| cx.by_operator(Op::SCAST, t, 1),
    ucast: (ucast reg) -> reg, 2 => |cx, t| cx.by_operator(Op::UCAST, t, 1),
    to_float_bits: (bitcast.$f:i32|i64.$t:float reg) -> num, 2 => |cx, t| cx.by_operator(Op::BITCAST, t, 1),
    to_int_bits: (bitcast.$f:float.$t:i32|i64 num) -> reg, 2 => |cx, t| cx.by_operator(Op::BITCAST, t, 1),
    fcast: (fcast num) -> num, 4 => |cx, t| cx.by_operator(Op::FCAST, t, 1),
    stof: (stof reg) -> num, 4 => |cx, t| cx.by_operator(Op::STOF, t, 1),
    utof: (utof reg) -> num, 4 => |cx, t| cx.by_operator(Op::UTOF, t, 1),
    ftoi_wrap: (ftoi_wrap num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOI_WRAP, t, 1),
    ftos_sat: (ftos_sat num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOS_SAT, t, 1),
    ftou_sat: (ftou_sat num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOU_SAT, t, 1),
    ftos_least: (ftos_least num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOS_LEAST, t, 1),
    ftos_trap: (ftos_trap num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOS_TRAP, t, 1),
    ftou_trap: (ftou_trap num) -> reg, 4 => |cx, t| cx.by_operator(Op::FTOU_TRAP, t, 1),
    // values at entry
    tc: (tc) -> reg, 0, entry, fixed(out = x0) => |cx, t| { let _ = (cx, t); },
    local: (local) -> reg, 0, entry, fixed(out = x1) => |cx, t| { let _ = (cx, t); },
    cu: (cu) -> reg, 0, entry, fixed(out = x2) => |cx, t| { let _ = (cx, t); },
    stack: (stack) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), SP.number()),
    // ends of blocks
    jump: (jump) -> void, 1 => |cx, t| { let _ = t; cx.jump() },
    switch: (switch reg) -> void, 8 => |cx, t| cx.switch(t.reg(0)),
    ret: (ret) -> void, 2 => |cx, t| { let _ = t; cx.give_back(None) },
    return_int: (return.$t:int reg) -> void, 2, fixed(0 = x1) => |cx, t| cx.give_back(Some(t.sig.from)),
    return_float: (return.$t:float num) -> void, 3 => |cx, t| {
        let ty = if t.sig.from == Type::F64 { Type::I64 } else { Type::I32 };
        cx.operate(Op::BITCAST, Sig { from: t.sig.from, ty }, X1.number(), [t.reg(0), 0]);
        cx.give_back(Some(ty));
    },
    exit_at: (exit_at $at) -> void, 3 => |cx, t| cx.exit(t.imm(0)),
    exit_with: (exit_with $state) -> void, 3 => |cx, t| leave_with_state(cx, t),
    trap: (trap $code) -> void, 3 => |cx, t| trap(cx, t.imm(0), t.origin),
    tailed: (tailed) -> void, 3 => |cx, t| { let _ = t; tail(cx) },
    // words of the engine
    poll: (poll $word) -> reg, 4 => |cx, t| {
        cx.constant(TEMP.number(), t.imm(0) as u64);
        cx.load(Type::I64, t.out(), TEMP.number(), 0);
    },
    spend: (spend $word) -> reg, 7, early => |cx, t| {
        cx.constant(TEMP.number(), t.imm(0) as u64);
        cx.load(Type::I64, t.out(), TEMP.number(), 0);
        cx.add(t.out(), t.out(), -1);
        cx.store(Type::I64, TEMP.number(), 0, t.out());
    },
    spend_at: (spend_at.$t:int reg) -> reg, 7, early => |cx, t| {
        cx.load(t.sig.ty, t.out(), t.reg(0), 0);
        cx.add(t.out(), t.out(), -1);
        cx.store(t.sig.ty, t.reg(0), 0, t.out());
    },
    // functions that others of bytecode call by their own convention
    argument0: (argument0) -> reg, 0, entry, fixed(out = x3) => |cx, t| { let _ = (cx, t); },
    argument1: (argument1) -> reg, 0, entry, fixed(out = x4) => |cx, t| { let _ = (cx, t); },
    argument2: (argument2) -> reg, 1 => |cx, t| { let _ = (cx, t); unreachable!("two are passed in registers") },
    argument3: (argument3) -> reg, 1 => |cx, t| { let _ = (cx, t); unreachable!("two are passed in registers") },
    argument4: (argument4) -> reg, 1 => |cx, t| { let _ = (cx, t); unreachable!("two are passed in registers") },
    argument_on_stack: (argument_on_stack $at) -> reg, 4 => |cx, t| { let at = cx.argument_at(t.imm(0)); cx.load(Type::I64, t.out(), SP.number(), at) },
    frame: (frame) -> reg, 1 => |cx, t| { let start = cx.room as i64; cx.add(t.out(), SP.number(), start) },
    give: (give.i64 reg) -> void, 2, fixed(0 = x0) => |cx, t| { let _ = t; succeed(cx) },
    fail: (fail $code) -> void, 3 => |cx, t| fail_with(cx, t.imm(0), t.origin),
    hand_over: (hand_over $state) -> void, 20 => |cx, t| leave_with_state(cx, t),
    // stencils: the registers that are kept from bytecode to bytecode
    kept_tc: (kept_tc) -> reg, 0, entry, fixed(out = x5) => |cx, t| { let _ = (cx, t); },
    kept_local: (kept_local) -> reg, 0, entry, fixed(out = x6) => |cx, t| { let _ = (cx, t); },
    pinned0: (pinned0) -> reg, 0, entry, fixed(out = i0) => |cx, t| { let _ = (cx, t); },
    pinned1: (pinned1) -> reg, 0, entry, fixed(out = i1) => |cx, t| { let _ = (cx, t); },
    kept_cu: (kept_cu) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), KEPT[2].number()),
    hole: (hole $v) -> reg, 1 => |cx, t| cx.constant(t.out(), t.imm(0) as u64),
    cached: (cached.i64) -> reg, 0, entry, fixed(out = x0) => |cx, t| { let _ = (cx, t); },
    cached_float: (cached.$t:float) -> num, 0, entry, fixed(out = f0) => |cx, t| { let _ = (cx, t); },
    continue_at: (continue reg reg $exit) -> void, 1, fixed(0 = x5), fixed(1 = x6) => |cx, t| continue_at(cx, t.imm(0)),
    continue_with: (continue_with.$t:int reg reg reg $exit) -> void, 1, fixed(0 = x5), fixed(1 = x6), fixed(2 = x0) => |cx, t| continue_at(cx, t.imm(0)),
    continue_with_float: (continue_with.$t:float reg reg num $exit) -> void, 1, fixed(0 = x5), fixed(1 = x6), fixed(2 = f0) => |cx, t| continue_at(cx, t.imm(0)),
    continue_to: (continue_to reg reg reg) -> void, 1, fixed(0 = x5), fixed(1 = x6) => |cx, t| cx.registers(Code::JumpTo, [t.reg(2), 0, 0]),
    // interpreted opcodes: operands in the bytecode, and what is kept in registers of their own
    field: (field $o) -> reg, 4 => |cx, t| {
        let Field { offset, ty, is_signed, .. } = Field::of(t.imm(0) as u64);
        cx.load(ty, t.out(), I0.number(), offset as i64);
        if ty != Type::I64 {
            let op = if is_signed { Op::SCAST } else { Op::UCAST };
            cx.operate(op, Sig { from: ty, ty: Type::I64 }, t.out(), [t.out(), 0]);
        }
    },
    record: (record $o) -> reg, 4 => |cx, t| cx.load(Type::I64, t.out(), I1.number(), Record::offset_in(t.imm(0) as u64) as i64),
    kept_pc: (kept_pc) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), I0.number()),
    kept_top: (kept_top) -> reg, 1 => |cx, t| cx.transfer(Class::Int, t.out(), I2.number()),
    dispatch: (dispatch reg reg $d) -> void, 1, fixed(0 = x5), fixed(1 = x6) => |cx, t| cx.dispatch(None, t.imm(0)),
    dispatch_to: (dispatch_to reg reg reg $d) -> void, 1, fixed(0 = x5), fixed(1 = x6) => |cx, t| cx.dispatch(Some(t.reg(2)), t.imm(0)),
    leave_at: (leave_at reg) -> void, 3, fixed(0 = x1) => |cx, t| { let _ = t; leave_at(cx) },
    // calls: the allocator has put everything in place
    call: (call.$t:int $f) -> reg, 20 => |cx, t| cx.call_address(t.imm(0) as u64),
    call_reg: (call.$t:int reg) -> reg, 20 => |cx, t| cx.registers(Code::Call, [t.reg(0), 0, 0]),
    call_float: (call.$t:float $f) -> num, 20 => |cx, t| cx.call_address(t.imm(0) as u64),
    call_float_reg: (call.$t:float reg) -> num, 20 => |cx, t| cx.registers(Code::Call, [t.reg(0), 0, 0]),
    callv: (callv $f) -> void, 20 => |cx, t| cx.call_address(t.imm(0) as u64),
    callv_reg: (callv reg) -> void, 20 => |cx, t| cx.registers(Code::Call, [t.reg(0), 0, 0]),
    call_or_fail: (call_or_fail.i64 $f) -> reg, 20 => |cx, t| { cx.call_address(t.imm(0) as u64); expect_result(cx, t.origin) },
    invoke: (invoke.i64 $f) -> reg, 20 => |cx, t| { cx.constant(X1.number(), t.imm(0) as u64); invoke(cx, t.operands() - 1, t.origin) },
    invoke_reg: (invoke.i64 reg) -> reg, 20, fixed(0 = x1) => |cx, t| invoke(cx, t.operands() - 2, t.origin),
    invoke_spread: (invoke_spread.i64 $f) -> reg, 30 => |cx, t| { cx.constant(X1.number(), t.imm(0) as u64); invoke_from_memory(cx, t.origin) },
    invoke_spread_reg: (invoke_spread.i64 reg) -> reg, 30, fixed(0 = x1) => |cx, t| invoke_from_memory(cx, t.origin),
    tail_invoke: (tail_invoke $f) -> void, 10 => |cx, t| { cx.constant(X1.number(), t.imm(0) as u64); tail_invoke(cx, t.operands() - 1) },
    tail_invoke_reg: (tail_invoke reg) -> void, 10, fixed(0 = x1) => |cx, t| tail_invoke(cx, t.operands() - 2),
    try_call: (try_call.i64 $f) -> reg, 20 => |cx, t| cx.call_address(t.imm(0) as u64),
    try_invoke: (try_invoke.i64 $f) -> reg, 20 => |cx, t| { cx.constant(X1.number(), t.imm(0) as u64); try_invoke(cx, t.operands() - 1) },
    try_invoke_reg: (try_invoke.i64 reg) -> reg, 20, fixed(0 = x1) => |cx, t| try_invoke(cx, t.operands() - 2),
    try_invoke_spread: (try_invoke_spread.i64 $f) -> reg, 30 => |cx, t| { cx.constant(X1.number(), t.imm(0) as u64); try_invoke_from_memory(cx) },
    try_invoke_spread_reg: (try_invoke_spread.i64 reg) -> reg, 30, fixed(0 = x1) => |cx, t| { let _ = t; try_invoke_from_memory(cx) },
    failure: (failure.i32 reg) -> reg, 0, fixed(out = x1) => |cx, t| { let _ = (cx, t); },
}
