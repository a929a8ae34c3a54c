//! Captured registers: closures have their addresses while the function runs, in every tier.

mod ways;

use azulejo::prelude::*;
use azulejo::{Fault, Frames, VerifyError, can_compile};
use ways::ways;

/// The addresses that closures have, and what collectors have seen.
#[derive(Default)]
#[repr(C)]
struct Vm {
    cells: [Option<std::ptr::NonNull<i64>>; 2],
    seen: Vec<Vec<u32>>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddNarrow {
        dst: Out<i16>,
        a: In<i16>,
        b: In<i16>,
    },
    Half {
        dst: Out<f64>,
        x: In<f64>,
    },
    /// Closures get the address of a register.
    Capture {
        at: Imm<u8>,
        register: Regs,
    },
    /// Adds to what a closure has captured.
    Change {
        at: Imm<u8>,
        by: In<i64>,
    },
    Read {
        dst: Out<i64>,
        at: Imm<u8>,
    },
    /// Sets a register, and then it is changed.
    SetAndChange {
        dst: Out<i64>,
        at: Imm<u8>,
        by: In<i64>,
    },
    Invoke {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    InvokeRun {
        dst: Out<i64>,
        f: Imm<u32>,
        run: Regs,
    },
    Tail {
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    JumpLess {
        a: In<i64>,
        b: In<i64>,
        to: Label,
    },
    ExitIfNegative {
        a: In<i64>,
    },
    Collect,
    Return {
        a: In<i64>,
    },
}

fn captured(vm: &mut Vm, at: u8) -> &mut i64 {
    let address = vm.cells[at as usize].as_mut().expect("it has been captured");
    // SAFETY: the function that captured it runs, and nobody else accesses it meanwhile.
    unsafe { address.as_mut() }
}

fn change(vm: &mut Vm, at: u8, by: i64) {
    *captured(vm, at) += by;
}

fn read(vm: &mut Vm, at: u8) -> i64 {
    *captured(vm, at)
}

fn keep(vm: &mut Vm, at: u8, address: Option<std::ptr::NonNull<i64>>) {
    vm.cells[at as usize] = address;
}

fn look(vm: &mut Vm, frames: Frames<'_>) {
    vm.seen.extend(frames.iter().map(|frame| frame.registers().map(|(register, _)| register).collect()));
}

template! {
    Op::Const           => $value
    Op::Add             => (add $a $b)
    Op::AddNarrow       => (add $a $b)
    Op::Half            => (mul $x 0.5)
    Op::Capture         => unsafe (callv keep (arglist (carg (tc) ptr) (carg $at u8) (carg (window $register) ptr)))
    Op::Change          => (callv change (arglist (carg (tc) ptr) (carg $at u8) (carg $by i64)))
    Op::Read            => (call read (arglist (carg (tc) ptr) (carg $at u8)) i64)
    Op::SetAndChange!   => (letv: (($by $by))
        (dov (set $dst $by) (callv change (arglist (carg (tc) ptr) (carg $at u8) (carg $by i64)))))
    Op::Invoke          => (invoke $f (arglist $a) i64)
    Op::InvokeRun       => (invoke $f (arglist $run) i64)
    Op::Tail            => (tail $f (arglist $a $b))
    Op::JumpLess        => (when (lt $a $b) (branch $to))
    Op::ExitIfNegative  => (when (lt $a 0) (exit))
    Op::Collect         => unsafe (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
    Op::Return          => (return $a)
}

fn run(register: u32) -> Regs {
    Regs { first: register, count: 1 }
}

/// Runs what `define` defines last, again and again, with these arguments; each time it must have this result.
#[track_caller]
fn check(define: impl Fn(&Engine<Op>) -> Result<FunctionId, Error>, arguments: [i64; 2], result: i64) {
    for (name, build) in ways() {
        let engine: Engine<Op> = build().checks(true).build();
        let function = define(&engine).expect("the code is right");
        for round in 0..8 {
            let found = engine.call::<_, i64>(function, &mut Vm::default(), (arguments[0], arguments[1]));
            assert_eq!(found, Ok(result), "{name}, round {round}");
        }
    }
}

#[test]
fn a_closure_changes_a_variable_in_a_loop() {
    // for i = 0 to n: sum += variable; closure(i); sum += variable
    check(
        |engine| {
            let ops = vec![
                Op::Capture { at: 0.into(), register: run(2) },
                Op::Const { dst: 5.into(), value: 1.into() },
                Op::Add { dst: 4.into(), a: 4.into(), b: 2.into() },
                Op::Change { at: 0.into(), by: 3.into() },
                Op::Add { dst: 4.into(), a: 4.into(), b: 2.into() },
                Op::Add { dst: 3.into(), a: 3.into(), b: 5.into() },
                Op::JumpLess { a: 3.into(), b: 0.into(), to: 2.into() },
                Op::Read { dst: 3.into(), at: 0.into() },
                Op::Add { dst: 4.into(), a: 4.into(), b: 3.into() },
                Op::Return { a: 4.into() },
            ];
            engine.define("f", Code::from(ops).with_arguments(2).with_captured([2]), 6)
        },
        [20, 0],
        // It is 0, 0, 1, 3, 6, … before each call, and 0, 1, 3, 6, … behind it; and the last of them.
        (0..20).map(|i| i * i).sum::<i64>() + 190,
    );
}

#[test]
fn what_the_function_writes_the_closure_sees() {
    check(
        |engine| {
            let ops = vec![
                Op::Capture { at: 0.into(), register: run(1) },
                Op::Capture { at: 1.into(), register: run(2) },
                Op::Add { dst: 1.into(), a: 0.into(), b: 0.into() },
                Op::Read { dst: 3.into(), at: 0.into() },
                Op::AddNarrow { dst: 2.into(), a: 1.into(), b: 1.into() },
                Op::Read { dst: 4.into(), at: 1.into() },
                Op::Add { dst: 3.into(), a: 3.into(), b: 4.into() },
                Op::SetAndChange { dst: 1.into(), at: 0.into(), by: 3.into() },
                Op::Add { dst: 3.into(), a: 3.into(), b: 1.into() },
                Op::Return { a: 3.into() },
            ];
            engine.define("f", Code::from(ops).with_arguments(2).with_captured([1, 2]), 5)
        },
        [-5, 7],
        // -10 in a register; -20 as 16 bits without a sign; twice the sum of both.
        3 * (-10 + 0xffec),
    );
}

#[test]
fn other_functions_change_it_and_leave() {
    check(
        |engine| {
            let ops = vec![
                Op::Change { at: 0.into(), by: 0.into() },
                Op::ExitIfNegative { a: 0.into() },
                Op::Change { at: 0.into(), by: 0.into() },
                Op::Read { dst: 0.into(), at: 0.into() },
                Op::Return { a: 0.into() },
            ];
            let closure = engine.define("closure", ops, 1)?.number();
            let ops = vec![
                Op::Capture { at: 0.into(), register: run(0) },
                Op::Invoke { dst: 2.into(), f: closure.into(), a: 1.into() },
                Op::Add { dst: 2.into(), a: 2.into(), b: 0.into() },
                Op::ExitIfNegative { a: 1.into() },
                Op::Invoke { dst: 3.into(), f: closure.into(), a: 0.into() },
                Op::Add { dst: 2.into(), a: 2.into(), b: 3.into() },
                Op::Add { dst: 2.into(), a: 2.into(), b: 0.into() },
                Op::Return { a: 2.into() },
            ];
            let inner = Code::from(ops).with_arguments(2).with_captured([0]);
            let inner = engine.define("inner", inner, 4)?.number();
            let ops = vec![
                Op::InvokeRun { dst: 2.into(), f: inner.into(), run: Regs { first: 0, count: 2 } },
                Op::Add { dst: 2.into(), a: 2.into(), b: 0.into() },
                Op::Return { a: 2.into() },
            ];
            engine.define("outer", Code::from(ops).with_arguments(2), 3)
        },
        [100, -3],
        // 94 twice; then the closure adds 94 twice, which is 282, and that twice; and 100.
        94 + 94 + 282 + 282 + 100,
    );
}

#[test]
fn a_function_in_its_own_place_starts_with_its_arguments() {
    check(
        |engine| {
            let ops = |f: u32| {
                vec![
                    Op::Capture { at: 0.into(), register: run(1) },
                    Op::Capture { at: 1.into(), register: run(2) },
                    Op::Change { at: 0.into(), by: 0.into() },
                    // Zero when the function starts.
                    Op::Change { at: 1.into(), by: 0.into() },
                    Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
                    Op::Const { dst: 3.into(), value: (-1).into() },
                    Op::Add { dst: 0.into(), a: 0.into(), b: 3.into() },
                    Op::JumpLess { a: 3.into(), b: 0.into(), to: 9.into() },
                    Op::Return { a: 1.into() },
                    Op::Tail { f: f.into(), a: 0.into(), b: 1.into() },
                ]
            };
            // The number of the next one.
            let next = engine.define("before", vec![Op::Return { a: 0.into() }], 1)?.number() + 1;
            engine.define("f", Code::from(ops(next)).with_arguments(2).with_captured([2, 1, 2]), 4)
        },
        [9, 1],
        1 + (0..=9).map(|i| 2 * i).sum::<i64>(),
    );
}

#[test]
fn collectors_see_captured_registers_which_the_function_does_not_read_again() {
    for (name, build) in ways() {
        let engine: Engine<Op> = build().build();
        let ops = vec![
            Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() },
            Op::Capture { at: 0.into(), register: run(2) },
            Op::Collect,
            Op::Return { a: 0.into() },
        ];
        let code = Code::from(ops).with_arguments(2).with_captured([2]);
        let function = engine.define("f", code, 4).expect("the code is right");
        for _ in 0..8 {
            let mut vm = Vm::default();
            assert_eq!(engine.call::<_, i64>(function, &mut vm, (3i64, 4i64)), Ok(3));
            assert_eq!(vm.seen, [[0, 2]], "{name}");
        }
    }
}

#[test]
fn other_registers_do_not_pay() {
    if can_compile().is_err() {
        return;
    }
    // The loop, whose registers nobody has captured.
    let ops = vec![
        Op::Capture { at: 0.into(), register: run(2) },
        Op::Const { dst: 5.into(), value: 1.into() },
        Op::Add { dst: 4.into(), a: 4.into(), b: 3.into() },
        Op::Add { dst: 3.into(), a: 3.into(), b: 5.into() },
        Op::JumpLess { a: 3.into(), b: 0.into(), to: 2.into() },
        Op::Return { a: 4.into() },
    ];
    let listing = |captured: &[u32]| {
        let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Optimizer).build();
        let code = Code::from(ops.clone()).with_arguments(2).with_captured(captured.iter().copied());
        let function = engine.define("f", code, 6).expect("the code is right");
        let text = engine.compile(function).and_then(|()| engine.disassemble(function));
        let text = text.expect("it is compiled").to_string();
        let body = text.lines().skip_while(|line| !line.contains("; 2: ")).map(|line| &line[8..]);
        body.map(|line| line.split(';').next().unwrap_or_default().trim().to_string()).collect::<Vec<_>>()
    };
    let (with, without) = (listing(&[2]), listing(&[]));
    assert!(!with.is_empty());
    assert_eq!(with, without);
}

#[test]
fn only_registers_that_keep_their_values_are_captured() {
    let engine = Engine::<Op>::new();
    let code = || Code::from(vec![Op::Return { a: 0.into() }]);
    let wrong = |register| Err(VerifyError::of_function(Fault::Captured { register }).into());
    assert_eq!(engine.define("f", code().with_captured([1, 4]), 4), wrong(4));
    assert_eq!(engine.define("f", code().with_captured([2]).with_temporaries(2), 4), wrong(2));
    assert!(engine.define("f", code().with_captured([3, 1]).with_temporaries(4), 5).is_ok());
}
