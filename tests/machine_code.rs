//! The machine code of a few functions whose shape matters: no memory access in a loop that needs none, one instruction
//! where the machine has one, values that live across a call in callee-saved registers.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, Instruction, Mnemonic, NasmFormatter, OpKind, Register,
};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    JumpNotLess { a: In<i64>, b: In<i64>, to: Label },
    Jump { to: Label },
    Scale { dst: Out<f64>, a: In<f64> },
    AddFloats { dst: Out<f64>, a: In<f64>, b: In<f64> },
    Narrow { dst: Out<u8>, a: In<u8> },
    Checked { dst: InOut<i64>, a: In<i64> },
    AddToElement { array: In<u64>, index: In<i64>, k: In<i64> },
    Body { dst: Out<u64>, object: In<u64> },
    Gather { sum: InOut<i64>, index: In<i64> },
    Scatter { index: In<i64>, k: In<i64> },
    Call,
    Guarded { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddShort { dst: Out<i64>, a: In<i64>, k: Imm<i16> },
    AddWord { dst: Out<i64>, a: In<i64>, k: Imm<u16> },
    IsWithin { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Load { dst: Out<i64>, at: In<u64> },
    Leave { a: In<i64>, b: In<i64> },
    Report { a: In<i64>, b: In<i64> },
    MultiplyFloats { dst: Out<f64>, a: In<f64>, b: In<f64> },
    JumpLessFloat { a: In<f64>, b: In<f64>, to: Label },
    Return { a: In<i64> },
    ReturnFloat { a: In<f64> },
}

static NULL: u64 = 0;

template! {
    macro ^vmnull () (copy (&null_address))
    macro ^field (,at) (load pure (addr (tc) ,at) u64)

    Op::Const        => $value
    Op::Add          => (add $a $b)
    Op::JumpLess     => (when (lt $a $b) (branch $to))
    Op::JumpNotLess  => (when (ge $a $b) (branch $to))
    Op::Jump         => (branch $to)
    Op::Scale        => (mul $a (const 2.5 f64))
    Op::AddFloats    => (add $a $b)
    Op::Narrow       => (add $a 3)
    Op::Checked      => (let: (($sum (add $dst $a)))
        (if (likely (lt $sum (const 1000000 i64))) $sum (call slow (arglist (carg $sum i64)) i64)))
    Op::AddToElement => unsafe
        (let: (($at (idx $array $index 8))) (store $at (add (load $at i64) $k) i64))
    Op::Body         => unsafe (let: (($v (load (addr $object 8) u64))) (if (nz $v) $v (^vmnull)))
    Op::Gather       => unsafe (add $sum (load (idx (load pure (addr (tc) 8) ptr) $index 8) i64))
    Op::Scatter      => unsafe (store (idx (load pure (addr (tc) 8) ptr) $index 8) $k i64)
    Op::Call         => (callv nothing (arglist))
    Op::Guarded      => (do
        (when (unlikely (ge $a $b)) (trap 3))
        (when (unlikely (ge $b (const 1000 i64))) (trap 4))
        (add $a $b))
    Op::AddShort     => (add $a (scast $k i64))
    Op::AddWord      => (add $a (ucast $k i64))
    Op::IsWithin     => (flagval (all (ge $a (const 0 i64)) (lt $a $b)) i64)
    Op::Load         => unsafe
        (within (any (likely (ult (sub $at (^field 0)) (^field 8))) (ult (sub $at (^field 16)) (^field 24))) 7
            (load $at i64))
    Op::Leave        => (when (unlikely (lt $a $b)) (exit))
    Op::Report       => (when (unlikely (lt $a $b)) (callv report (arglist
        (carg (addr (tc) 40) ptr) (carg (mul (sub $a $b) (const 3 i64)) i64) (carg (const 123456789 i64) i64))))
    Op::JumpLessFloat => (when (lt $a $b) (branch $to))
    Op::MultiplyFloats => (let: (($product (mul $a $b)))
        (if (likely (lt $product (const 1.0 f64))) $product (call slow_float (arglist (carg $product f64)) f64)))
    Op::Return       => (return $a)
    Op::ReturnFloat  => (return $a)
}

const fn null_address() -> i64 {
    0x1000
}

extern "C" fn nothing() {
    std::hint::black_box(&NULL);
}

extern "C" fn report(context: *const u8, a: i64, k: i64) {
    std::hint::black_box((context, a, k));
}

extern "C" fn slow_float(product: f64) -> f64 {
    product / 2.0
}

extern "C" fn slow(sum: i64) -> i64 {
    sum / 2
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

fn compiled(code: Vec<Op>, registers: u32) -> Vec<Instruction> {
    compiled_by(&Engine::new(), code, registers)
}

fn compiled_by(engine: &Engine<Op>, code: Vec<Op>, registers: u32) -> Vec<Instruction> {
    let function = engine.define("test", code, registers).expect("the code is right");
    engine.compile(function).expect("it compiles");
    let listing = engine.disassemble(function).expect("it was compiled");
    let mut decoder = Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE);
    // Padding follows the last return.
    let all: Vec<Instruction> = decoder.iter().collect();
    let end = all.iter().rposition(|instruction| instruction.flow_control() == FlowControl::Return);
    all[..=end.expect("it returns")].to_vec()
}

/// The instructions from the target of the first backward jump to that jump.
fn loop_body(code: &[Instruction]) -> Vec<Instruction> {
    let back = code
        .iter()
        .find(|jump| jump.op0_kind() == OpKind::NearBranch64 && jump.near_branch_target() < jump.ip())
        .expect("there is a loop");
    let from = back.near_branch_target();
    code.iter().filter(|instruction| (from..=back.ip()).contains(&instruction.ip())).copied().collect()
}

fn touches_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
        && instruction.code() != iced_x86::Code::Lea_r64_m
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

fn text(code: &[Instruction]) -> String {
    let mut formatter = NasmFormatter::new();
    let lines = code.iter().map(|instruction| {
        let mut line = String::new();
        formatter.format(instruction, &mut line);
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether an instruction moves a value between integer and float registers.
fn crosses_classes(instruction: &Instruction) -> bool {
    let is_float = |at| instruction.op_register(at).is_xmm();
    instruction.op_count() == 2
        && (0..2).all(|at| instruction.op_kind(at) == OpKind::Register)
        && is_float(0) != is_float(1)
}

/// A register holds an integer before and behind a loop; in the loop it is a float nevertheless.
#[test]
fn a_float_stays_one_in_a_loop_whatever_its_register_is_elsewhere() {
    let code = compiled(
        vec![
            Op::Add { dst: r(4), a: r(1), b: r(2) },
            // sum = a + a, as an integer
            Op::Add { dst: r(3), a: r(1), b: r(1) },
            Op::AddFloats { dst: r(3), a: r(3), b: r(2) },
            Op::Scale { dst: r(3), a: r(3) },
            Op::Add { dst: r(4), a: r(4), b: r(5) },
            Op::JumpLess { a: r(4), b: r(0), to: Label(2) },
            Op::Add { dst: r(3), a: r(3), b: r(5) },
            Op::Return { a: r(3) },
        ],
        6,
    );
    let body = loop_body(&code);
    assert!(body.len() >= 4 && !body.iter().any(crosses_classes), "{}", text(&body));
}

#[test]
fn a_narrow_integer_stays_one_in_a_loop_whatever_its_register_is_elsewhere() {
    let code = compiled(
        vec![
            Op::Const { dst: r(2), value: Imm(1) },
            Op::Narrow { dst: r(1), a: r(0) },
            Op::Narrow { dst: r(1), a: r(1) },
            Op::Add { dst: r(3), a: r(3), b: r(2) },
            Op::JumpLess { a: r(3), b: r(0), to: Label(2) },
            Op::Add { dst: r(1), a: r(1), b: r(2) },
            Op::Return { a: r(1) },
        ],
        4,
    );
    let body = loop_body(&code);
    let is_widened = body.iter().any(|instruction| instruction.mnemonic() == iced_x86::Mnemonic::Movzx);
    assert!(body.len() >= 4 && !is_widened, "{}", text(&body));
}

#[test]
fn a_sum_has_no_memory_access_and_one_fused_branch_in_its_loop() {
    // for i in 0..n { sum += i }
    let code = compiled(
        vec![
            Op::Const { dst: r(1), value: Imm(0) },
            Op::Const { dst: r(2), value: Imm(0) },
            Op::Const { dst: r(3), value: Imm(1) },
            Op::Add { dst: r(2), a: r(2), b: r(1) },
            Op::Add { dst: r(1), a: r(1), b: r(3) },
            Op::JumpLess { a: r(1), b: r(0), to: Label(3) },
            Op::Return { a: r(2) },
        ],
        4,
    );
    let body = loop_body(&code);
    assert!(!body.iter().any(touches_memory), "{}", text(&body));
    let compares =
        body.iter().filter(|instruction| instruction.mnemonic() == iced_x86::Mnemonic::Cmp).count();
    assert_eq!((compares, n_branches(&body)), (1, 1), "{}", text(&body));
    let compare = body.iter().position(|instruction| instruction.mnemonic() == iced_x86::Mnemonic::Cmp);
    let next = compare.and_then(|at| body.get(at + 1)).expect("something follows");
    assert_eq!(next.flow_control(), FlowControl::ConditionalBranch, "{}", text(&body));
}

#[test]
fn adding_to_an_element_is_one_instruction_on_memory() {
    // a[i] += k
    let code =
        compiled(vec![Op::AddToElement { array: r(0), index: r(1), k: r(2) }, Op::Return { a: r(2) }], 3);
    let on_elements: Vec<&Instruction> = code
        .iter()
        .filter(|instruction| touches_memory(instruction) && instruction.memory_index() != Register::None)
        .collect();
    let [add] = on_elements[..] else { panic!("one instruction with an index:\n{}", text(&code)) };
    assert_eq!(add.mnemonic(), iced_x86::Mnemonic::Add, "{}", text(&code));
    assert_eq!((add.op0_kind(), add.memory_index_scale()), (OpKind::Memory, 8), "{}", text(&code));
}

#[test]
fn a_value_that_is_tested_and_used_is_loaded_once() {
    // (if (nz $v) $v (^vmnull))
    let code = compiled(vec![Op::Body { dst: r(1), object: r(0) }, Op::Return { a: r(1) }], 2);
    let is_body =
        |instruction: &&Instruction| touches_memory(instruction) && instruction.memory_displacement64() == 8;
    assert_eq!(code.iter().filter(is_body).count(), 1, "{}", text(&code));
    assert_eq!(n_branches(&code), 0, "a choice of two values needs no branch:\n{}", text(&code));
}

#[test]
fn a_counter_lives_across_a_call_in_a_register_that_calls_keep() {
    let code = compiled(
        vec![
            Op::Const { dst: r(1), value: Imm(0) },
            Op::Const { dst: r(2), value: Imm(1) },
            Op::Call,
            Op::Add { dst: r(1), a: r(1), b: r(2) },
            Op::JumpLess { a: r(1), b: r(0), to: Label(2) },
            Op::Return { a: r(1) },
        ],
        3,
    );
    let body = loop_body(&code);
    // The call is direct if code can be mapped near the program.
    let expected = if cfg!(target_os = "linux") { FlowControl::Call } else { FlowControl::IndirectCall };
    assert!(body.iter().any(|i| i.flow_control() == expected), "{}", text(&body));
    assert!(!body.iter().any(touches_memory), "{}", text(&body));
    let kept = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
    let compare = body.iter().find(|i| i.mnemonic() == iced_x86::Mnemonic::Cmp).expect("the loop ends");
    let full = |operand| compare.op_register(operand).full_register();
    assert!(kept.contains(&full(0)) && kept.contains(&full(1)), "{}", text(&body));
}

#[test]
fn a_loop_that_tests_at_its_top_jumps_once_on_the_way_around() {
    // while i < n { i += 1 }
    let code = compiled(
        vec![
            Op::Const { dst: r(1), value: Imm(0) },
            Op::Const { dst: r(2), value: Imm(1) },
            Op::JumpNotLess { a: r(1), b: r(0), to: Label(5) },
            Op::Add { dst: r(1), a: r(1), b: r(2) },
            Op::Jump { to: Label(2) },
            Op::Return { a: r(1) },
        ],
        3,
    );
    let body = loop_body(&code);
    assert_eq!(body.len(), 3, "add, compare, jump:\n{}", text(&code));
    assert_eq!(body[2].flow_control(), FlowControl::ConditionalBranch, "{}", text(&code));
}

#[test]
fn a_slow_path_that_destroys_registers_costs_the_fast_one_nothing() {
    // do { sum = checked(sum + i); i += 1 } while i < n
    let code = compiled(
        vec![
            Op::Const { dst: r(1), value: Imm(0) },
            Op::Const { dst: r(2), value: Imm(0) },
            Op::Const { dst: r(3), value: Imm(1) },
            Op::Checked { dst: r(2), a: r(1) },
            Op::Add { dst: r(1), a: r(1), b: r(3) },
            Op::JumpLess { a: r(1), b: r(0), to: Label(3) },
            Op::Return { a: r(2) },
        ],
        4,
    );
    let body = loop_body(&code);
    assert!(!body.iter().any(is_call), "{}", text(&code));
    assert!(!body.iter().any(touches_memory), "{}", text(&code));
}

#[test]
fn what_only_cold_calls_are_given_is_computed_in_cold_code() {
    // do { if i < a { report(&context.40, (i - a) * 3, …) }; call(); the same report; i += 1 } while i < n
    let [n, a, i, one] = [0u32, 1, 2, 3];
    let code = compiled(
        vec![
            Op::Const { dst: r(i), value: Imm(0) },
            Op::Const { dst: r(one), value: Imm(1) },
            Op::Report { a: r(i), b: r(a) },
            Op::Call,
            Op::Report { a: r(i), b: r(a) },
            Op::Add { dst: r(i), a: r(i), b: r(one) },
            Op::JumpLess { a: r(i), b: r(n), to: Label(2) },
            Op::Return { a: r(a) },
        ],
        4,
    );
    let body = loop_body(&code);
    let mnemonics: Vec<String> = body.iter().map(|i| format!("{:?}", i.mnemonic())).collect();
    assert_eq!(mnemonics, ["Cmp", "Jl", "Call", "Cmp", "Jl", "Add", "Cmp", "Jl"], "{}", text(&code));
}

#[test]
fn what_cold_calls_destroy_is_stored_in_cold_code() {
    // do { …; i += 1 } while i < n, and then the sum of all floats
    let looped = |body: &[Op]| {
        let [n, i, one] = [0u32, 1, 2];
        let mut code = vec![Op::Const { dst: r(i), value: Imm(0) }, Op::Const { dst: r(one), value: Imm(1) }];
        code.extend(body);
        code.push(Op::Add { dst: r(i), a: r(i), b: r(one) });
        code.push(Op::JumpLess { a: r(i), b: r(n), to: Label(2) });
        code.extend((4..9).map(|at: u32| Op::AddFloats { dst: r(3), a: r(3), b: r(at) }));
        code.push(Op::ReturnFloat { a: r(3) });
        compiled(code, 9)
    };
    let add = |dst, a, b| Op::AddFloats { dst: r(dst), a: r(a), b: r(b) };
    let product = |dst, a, b| Op::MultiplyFloats { dst: r(dst), a: r(a), b: r(b) };
    // The product merges two values, and the loop does not use it.
    let idle = [Op::Scale { dst: r(7), a: r(4) }, Op::Scale { dst: r(3), a: r(3) }, product(7, 7, 5)];
    // The compared values are used again in the next iteration.
    let around = [
        Op::JumpLessFloat { a: r(8), b: r(3), to: Label(4) },
        add(7, 8, 3),
        Op::JumpLessFloat { a: r(3), b: r(3), to: Label(6) },
        add(6, 3, 3),
        product(5, 3, 8),
        add(4, 5, 8),
        add(4, 5, 4),
    ];
    for body in [&around[..], &idle] {
        let code = looped(body);
        let body = loop_body(&code);
        let is_spilled = |i: &Instruction| touches_memory(i) && i.memory_base() == Register::RSP;
        assert!(!body.iter().any(|i| is_spilled(i) || is_call(i)), "{}", text(&code));
    }
}

#[test]
fn a_float_constant_is_an_operand_in_memory() {
    let code = compiled(vec![Op::Scale { dst: r(0), a: r(0) }, Op::Return { a: r(0) }], 1);
    let multiply = code.iter().find(|i| i.mnemonic() == iced_x86::Mnemonic::Mulsd).expect("it multiplies");
    assert!(multiply.is_ip_rel_memory_operand(), "{}", text(&code));
}

#[test]
fn baseline_code_takes_from_a_register_what_the_bytecode_before_left_there() {
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let add = |dst: u32, a: u32, b: u32| Op::Add { dst: dst.into(), a: a.into(), b: b.into() };
    let code = vec![add(2, 0, 1), add(3, 2, 0), add(4, 1, 3), Op::Return { a: 4.into() }];
    let function = engine.define("adds", code, 5).expect("the code is right");
    engine.compile_in(function, Tier::Baseline).expect("it compiles");
    let text = engine.disassemble(function).expect("it is compiled").to_string();
    // The first addition loads two VM registers, the others one each, and `return` none.
    assert_eq!(text.matches(", [rbx").count(), 4, "{text}");
    assert_eq!(text.matches("mov [rbx+").count(), 3, "each result is in its slot:\n{text}");
}

/// The disassembly of a function's baseline code.
fn baseline(code: Vec<Op>, registers: u32) -> String {
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let function = engine.define("test", code, registers).expect("the code is right");
    engine.compile_in(function, Tier::Baseline).expect("it compiles");
    engine.disassemble(function).expect("it is compiled").to_string()
}

#[test]
fn a_value_at_hand_stays_so_behind_checks() {
    let guarded = |dst: u32, a: u32, b: u32| Op::Guarded { dst: r(dst), a: r(a), b: r(b) };
    let code = vec![guarded(2, 0, 1), guarded(3, 2, 0), guarded(4, 0, 3), Op::Return { a: r(4) }];
    let text = baseline(code, 5);
    // Both results are stored to their slots. The next bytecode takes them from the machine register, in spite of the
    // checks.
    for slot in ["[rbx+0x10]", "[rbx+0x18]", "[rbx+0x20]"] {
        assert_eq!(text.matches(slot).count(), 1, "{slot}:\n{text}");
    }
}

#[test]
fn a_flag_of_several_is_one_or_zero_without_another_test() {
    let code = || vec![Op::IsWithin { dst: r(2), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
    let text = baseline(code(), 3);
    // One jump for each comparison; no flag is materialised.
    assert_eq!((text.matches("jl ").count(), text.matches("set").count()), (2, 0), "{text}");
    let engine = Engine::<Op>::builder().only(Tier::Baseline).build();
    let function = engine.define("test", code(), 3).expect("the code is right");
    for (a, b, expected) in [(0i64, 1i64, 1i64), (-1, 1, 0), (1, 1, 0), (i64::MIN, i64::MAX, 0)] {
        assert_eq!(
            engine.call::<_, i64>(function, &mut (), (a, b)).expect("it returns"),
            expected,
            "{a} {b}"
        );
    }
}

#[test]
fn narrow_constants_are_as_wide_as_they_are_wanted() {
    let (a, dst) = (r(0), r(1));
    let text = baseline(
        vec![
            Op::AddShort { dst, a, k: Imm(-7) },
            Op::AddWord { dst, a, k: Imm(0xfedc) },
            Op::Return { a: r(1) },
        ],
        2,
    );
    for (at, constant) in ["0xfffffffffffffff9", "0xfedc"].into_iter().enumerate() {
        let last = "[rbx+8], rax".to_string();
        let own = text
            .lines()
            .skip_while(|line| !line.contains(&format!("; {at}: ")))
            .take_while(|line| !line.contains(&last));
        let own: Vec<&str> = own.collect();
        assert!(
            own.len() == 2 && own.iter().any(|line| line.contains(&format!("add rax, {constant}"))),
            "{text}"
        );
    }
}

#[test]
fn what_never_changes_is_loaded_once_before_the_loop() {
    // for i in 0..n { sum += m[i]; m[i] = n }, with the address of m in the context, which never changes
    let code = compiled(
        vec![
            Op::Const { dst: r(1), value: Imm(0) },
            Op::Const { dst: r(2), value: Imm(0) },
            Op::Const { dst: r(3), value: Imm(1) },
            Op::Gather { sum: r(2), index: r(1) },
            Op::Scatter { index: r(1), k: r(0) },
            Op::Add { dst: r(1), a: r(1), b: r(3) },
            Op::JumpLess { a: r(1), b: r(0), to: Label(3) },
            Op::Return { a: r(2) },
        ],
        4,
    );
    let body = loop_body(&code);
    assert_eq!(body.iter().filter(|instruction| touches_memory(instruction)).count(), 2, "{}", text(&body));
}

fn n_branches(code: &[Instruction]) -> usize {
    code.iter().filter(|i| i.flow_control() == FlowControl::ConditionalBranch).count()
}

#[test]
fn a_check_with_two_ways_is_done_once_for_one_address() {
    let code = compiled(
        vec![
            Op::Load { dst: r(1), at: r(0) },
            Op::Call,
            Op::Load { dst: r(2), at: r(0) },
            Op::Add { dst: r(1), a: r(1), b: r(2) },
            Op::Call,
            Op::Load { dst: r(2), at: r(0) },
            Op::Add { dst: r(1), a: r(1), b: r(2) },
            Op::Return { a: r(1) },
        ],
        3,
    );
    assert_eq!(n_branches(&code), 2, "{}", text(&code));
}

#[test]
fn a_branch_is_decided_by_one_that_dominates_it() {
    // if a < b { return a }; if c < d { call() }; if a < b { return c }; return d
    let [a, b, c, d] = [0u32, 1, 2, 3];
    let code = compiled(
        vec![
            Op::JumpLess { a: r(a), b: r(b), to: Label(5) },
            Op::JumpNotLess { a: r(c), b: r(d), to: Label(3) },
            Op::Call,
            Op::JumpLess { a: r(a), b: r(b), to: Label(6) },
            Op::Return { a: r(d) },
            Op::Return { a: r(a) },
            Op::Return { a: r(c) },
        ],
        4,
    );
    assert_eq!(n_branches(&code), 2, "{}", text(&code));
}

#[test]
fn a_way_out_stores_what_is_read_behind_it() {
    // Ten registers are written before an exit, and all but one of them are written again behind it.
    let mut code: Vec<Op> = (2..12).map(|at: u32| Op::Add { dst: r(at), a: r(0), b: r(1) }).collect();
    code.push(Op::Leave { a: r(0), b: r(1) });
    code.extend((3..12).map(|at: u32| Op::Add { dst: r(at), a: r(at - 1), b: r(1) }));
    code.push(Op::Return { a: r(11) });
    let listing = compiled(code.clone(), 12);
    let stores = |i: &Instruction| i.op0_kind() == OpKind::Memory && i.memory_base() == Register::RSI;
    assert!(!listing.iter().any(stores), "{}", text(&listing));

    let engine = Engine::<Op>::new();
    let function = engine.define("leaves", code, 12).expect("the code is right");
    engine.compile(function).expect("it compiles");
    let stages = engine.stages(function).expect("it compiles");
    let exit = stages.lines().find(|line| line.contains("exit_with")).expect("it has a way out");
    assert_eq!(exit.matches(" slot").count(), 1, "{exit}");
    for arguments in [(1i64, 2i64), (2, 1)] {
        let expected: i64 = engine.interpret(function, &mut (), arguments).expect("it returns");
        assert_eq!(engine.call::<_, i64>(function, &mut (), arguments), Ok(expected));
    }
}

#[test]
fn ways_out_that_trap_alike_share_their_code() {
    let mut code: Vec<Op> = (0..10).map(|at: u32| Op::Load { dst: r(10), at: r(at) }).collect();
    code.push(Op::Return { a: r(10) });
    let code = compiled(code, 11);
    let returns = code.iter().filter(|i| i.flow_control() == FlowControl::Return).count();
    // One return for the value and one for the trap.
    assert_eq!(returns, 2, "{}", text(&code));
}

#[test]
fn a_loop_that_may_be_stopped_or_runs_on_fuel_has_two_more_instructions_and_the_same_moves() {
    let code = vec![
        Op::Const { dst: r(1), value: Imm(0) },
        Op::Const { dst: r(2), value: Imm(0) },
        Op::Const { dst: r(3), value: Imm(1) },
        Op::Add { dst: r(2), a: r(2), b: r(1) },
        Op::Add { dst: r(1), a: r(1), b: r(3) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(3) },
        Op::Return { a: r(2) },
    ];
    let body = loop_body(&compiled(code.clone(), 4));
    let stopped: Engine<Op> = Engine::new();
    let _interrupter = stopped.interrupter();
    let all = compiled_by(&stopped, code.clone(), 4);
    let looks = loop_body(&all);
    assert_eq!(looks.len(), body.len() + 2, "{}", text(&looks));
    let in_memory: Vec<_> = looks.iter().filter(|instruction| touches_memory(instruction)).collect();
    assert!(matches!(in_memory[..], [word] if word.is_ip_rel_memory_operand()), "{}", text(&looks));
    // Where the loop stops, the number of a record is noted, which says where the values are.
    let is_noted = |i: &&Instruction| i.mnemonic() == Mnemonic::Push && i.op0_kind() != OpKind::Register;
    assert_eq!(all.iter().filter(is_noted).count(), 1, "{}", text(&all));

    // One instruction decrements the fuel, and another one checks what is left.
    let fuelled: Engine<Op> = Engine::<Op>::builder().fuel(1000).build();
    let spends = loop_body(&compiled_by(&fuelled, code, 4));
    assert_eq!(spends.len(), body.len() + 4, "{}", text(&spends));
}

#[test]
fn cold_code_moves_what_it_uses_and_slots_are_used_again_however_long_a_function_is() {
    const ADDRESSES: u32 = 40; // Different each time, so that each load has cold code of its own.
    let measure = |loads: u32| {
        let (sums, value, step, first) = (8, 8, 9, 10);
        let mut code = Vec::new();
        for at in 0..loads {
            let (address, sum) = (first + at * 7 % ADDRESSES, at * 5 % sums);
            code.push(Op::Load { dst: r(value), at: r(address) });
            code.push(Op::Add { dst: r(sum), a: r(sum), b: r(value) });
            code.push(Op::Add { dst: r(address), a: r(address), b: r(step) });
        }
        let registers = first + ADDRESSES;
        code.extend((1..registers).map(|at| Op::Add { dst: r(0), a: r(0), b: r(at) }));
        code.push(Op::Return { a: r(0) });
        let engine = Engine::<Op>::new();
        let function = engine.define("checks", code, registers).expect("the code is right");
        engine.compile(function).expect("it compiles");
        let listing = engine.disassemble(function).expect("it was compiled");
        let is_frame =
            |i: &Instruction| i.mnemonic() == iced_x86::Mnemonic::Sub && i.op0_register() == Register::RSP;
        let mut decoder = Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE);
        let frame = decoder.iter().find(is_frame).expect("there is a frame").immediate(1);
        (engine.code_len(function) / loads as usize, frame)
    };
    let ((short, small), (long, large)) = (measure(200), measure(2000));
    assert!(short < 130 && long < 130, "{short} bytes a load, and {long} in a function ten times as long");
    assert!(large <= small + 64, "{small} bytes in the frame, and {large} in a function ten times as long");
}
