//! What frames show: which functions, where they wait, and the registers that are alive.

#![allow(deprecated, reason = "outputs that are also operands are read again on purpose")]

use crate::ways;
use azulejo::prelude::*;
use azulejo::{Builder, Frames, Resumed, can_compile, can_switch, suspend};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Set {
        dst: Out<u64>,
        k: Imm<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    Look,
    /// Looks on a slow path, if the operand is not small.
    LookIfLarge {
        a: In<u64>,
    },
    /// Writes an output between two looks, and reads an operand behind them.
    LookTwice {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// Adds one to each register that is alive.
    Change,
    /// Sets register 0 of each frame that can be written to 50. Says how many there are.
    ChangeWhatCanBe {
        dst: Out<u64>,
    },
    Call {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    CallRun {
        dst: Out<u64>,
        function: Imm<u32>,
        all: Regs,
    },
    CallQuietly {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    /// Has 77 if the call fails, to which the frame is not shown.
    TryQuietly {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    Tail {
        function: Imm<u32>,
        a: In<u64>,
    },
    /// Through Rust, which goes on if the call fails or panics.
    Again {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    /// The same, and shows its own frame to nobody.
    AgainQuietly {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    /// Calls Rust that calls no bytecode.
    Twice {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// A fiber that runs to where it is suspended, and is dropped.
    OnFiber {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    Suspend {
        dst: Out<u64>,
        a: In<u64>,
    },
    JumpLess {
        a: In<u64>,
        k: Imm<u64>,
        to: Label,
    },
    Leave {
        a: In<u64>,
    },
    Fail,
    Panic,
    Return {
        a: In<u64>,
    },
}

template! {
    Op::Set    => (copy $k)
    Op::Add    => (add $a $b)
    Op::Look   => (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
    Op::LookIfLarge => (when (ge $a 100) (slowv (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))))
    Op::LookTwice! => (dov
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
        (set $dst 40)
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
        (set $dst (add $dst $a)))
    Op::Change => (callv observes change (arglist (carg (frames) ptr)))
    Op::ChangeWhatCanBe => (call observes change_what_can_be (arglist (carg (frames) ptr)) u64)
    Op::Call   => (invoke observes $function (arglist $a) u64)
    Op::CallRun => (invoke observes $function (arglist $all) u64)
    Op::CallQuietly => (invoke $function (arglist $a) u64)
    Op::TryQuietly => (try (invoke $function (arglist $a) u64) 77)
    Op::Tail   => (tail $function (arglist $a))
    Op::Again  => (call observes again (arglist (carg (tc) ptr) (carg $function u32) (carg $a u64)) u64)
    Op::AgainQuietly => (call again (arglist (carg (tc) ptr) (carg $function u32) (carg $a u64)) u64)
    Op::Twice  => (call leaf twice (arglist (carg $a u64)) u64)
    Op::OnFiber => (call observes on_fiber (arglist (carg (tc) ptr) (carg $function u32) (carg $a u64)) u64)
    Op::Suspend => (call observes throws suspend (arglist (carg $a u64)) u64)
    Op::JumpLess => (when (lt $a $k) (branch $to))
    Op::Leave  => (when (nz $a) (exit))
    Op::Fail   => (trap 3)
    Op::Panic  => (callv observes panics (arglist))
    Op::Return => (return $a)
}

/// A frame as a test expects it: the function's number, the bytecode, and the registers that are alive.
type Shown = (u32, u32, Vec<(u32, u64)>);

struct Vm {
    engine: *const Engine<Op>,
    functions: Vec<FunctionId>,
    seen: Vec<Vec<Shown>>,
}

fn shown(frames: &Frames<'_>) -> Vec<Shown> {
    let of = frames.iter().map(|frame| {
        assert!(frame.registers().all(|(register, value)| frame.get(register) == Some(value)));
        (frame.function().number(), frame.bytecode(), frame.registers().collect())
    });
    of.collect()
}

fn look(vm: &mut Vm, frames: Frames<'_>) {
    let seen = shown(&frames);
    let places = seen.iter().map(|(function, bytecode, _)| (vm.functions[*function as usize], *bytecode));
    assert_eq!(frames.backtrace(), places.collect::<Vec<_>>());
    vm.seen.push(seen);
}

fn change(frames: Frames<'_>) {
    for frame in frames.iter() {
        frame.update(|value| value + 1);
        assert!(!frame.set(1000, 1) && frame.get(1000).is_none());
    }
}

fn change_what_can_be(frames: Frames<'_>) -> u64 {
    let can_be = frames.iter().filter(|frame| frame.can_be_written());
    can_be.map(|frame| frame.set(0, 50) as u64).sum()
}

fn again(vm: *mut Vm, function: u32, a: u64) -> u64 {
    // SAFETY: the engine lives as long as its calls, and nobody uses the context meanwhile.
    let (engine, vm) = unsafe { (&*(*vm).engine, &mut *vm) };
    let function = vm.functions[function as usize];
    let call = std::panic::AssertUnwindSafe(|| engine.call(function, vm, (a,)));
    std::panic::catch_unwind(call).map_or(1000, |result| result.unwrap_or(500))
}

fn twice(a: u64) -> u64 {
    2 * a
}

fn on_fiber(vm: *mut Vm, function: u32, a: u64) -> u64 {
    // SAFETY: as above.
    let (engine, vm) = unsafe { (&*(*vm).engine, &mut *vm) };
    let mut fiber = engine.fiber(vm.functions[function as usize], (a,)).expect("there is memory");
    assert_eq!(shown(&fiber.frames()), [], "it has not started");
    let Ok(Resumed::Suspended(value)) = fiber.resume(vm, 0) else { return 0 };
    vm.seen.push(shown(&fiber.frames()));
    value
}

fn panics() {
    std::panic::resume_unwind(Box::new("on purpose"));
}

/// Runs the last of some functions of five registers several times, in each way, and checks its result and what it saw.
fn check(functions: &[Vec<Op>], arg: u64, result: Result<u64, ()>, expected: &[Vec<Shown>]) {
    for (way, builder) in ways() {
        check_in(way, builder(), functions, arg, result, expected);
    }
}

fn check_in(
    way: &str,
    builder: Builder,
    functions: &[Vec<Op>],
    arg: u64,
    result: Result<u64, ()>,
    expected: &[Vec<Shown>],
) {
    let engine: Engine<Op> = builder.build();
    let define = |code: &Vec<Op>| engine.define("f", code.clone(), 5).expect("it is right");
    let functions: Vec<FunctionId> = functions.iter().map(define).collect();
    let last = *functions.last().expect("there is one");
    let mut vm = Vm { engine: &raw const engine, functions, seen: Vec::new() };
    for round in 0..8 {
        let got = engine.call::<_, u64>(last, &mut vm, (arg,));
        assert_eq!(got.map_err(drop), result, "{way}, round {round}");
        assert_eq!(std::mem::take(&mut vm.seen), expected, "{way}, round {round}");
    }
}

fn set(dst: u32, k: u64) -> Op {
    Op::Set { dst: dst.into(), k: Imm(k) }
}

fn call(dst: u32, function: u32, a: u32) -> Op {
    Op::Call { dst: dst.into(), function: Imm(function), a: a.into() }
}

fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: dst.into(), a: a.into(), b: b.into() }
}

fn give(a: u32) -> Op {
    Op::Return { a: a.into() }
}

#[test]
fn registers_that_nobody_reads_any_more_are_not_shown() {
    // Register 2 is written and not read again, 3 is written before it is read; 4 is read, and zero.
    let code =
        vec![set(1, 7), set(2, 8), Op::Look, set(3, 9), add(0, 0, 1), add(0, 0, 3), add(0, 0, 4), give(0)];
    check(&[code], 5, Ok(21), &[vec![(0, 2, vec![(0, 5), (1, 7), (4, 0)])]]);
}

#[test]
fn an_output_is_alive_from_where_it_is_written() {
    let code = vec![set(1, 2), Op::LookTwice { dst: 1.into(), a: 0.into() }, give(1)];
    let expected = [vec![(0, 1, vec![(0, 5)])], vec![(0, 1, vec![(0, 5), (1, 40)])]];
    check(&[code], 5, Ok(45), &expected);
    // Both operands are one register.
    let code = vec![Op::LookTwice { dst: 0.into(), a: 0.into() }, give(0)];
    let expected = [vec![(0, 0, vec![(0, 5)])], vec![(0, 0, vec![(0, 40)])]];
    check(&[code], 5, Ok(80), &expected);
}

#[test]
fn what_is_written_into_a_frame_is_read_from_there() {
    let inner = vec![Op::Change, set(1, 1), add(0, 0, 1), Op::Change, give(0)];
    let outer = vec![set(1, 100), call(2, 0, 0), Op::Change, add(2, 2, 1), add(2, 2, 0), give(2)];
    // Inside 5 becomes 6, 7 and 8; outside 5 becomes 8, and 100 becomes 103, as 8 becomes 9.
    check(&[inner, outer], 5, Ok(9 + 103 + 8), &[]);
}

#[test]
fn all_callers_that_observe_are_shown() {
    let inner = vec![set(1, 3), Op::Look, add(0, 0, 1), give(0)];
    let tails = vec![Op::Tail { function: Imm(0), a: 0.into() }];
    let quiet = vec![Op::CallQuietly { dst: 0.into(), function: Imm(1), a: 0.into() }, give(0)];
    let run = vec![
        Op::Leave { a: 0.into() },
        Op::CallRun { dst: 1.into(), function: Imm(2), all: Regs { first: 0, count: 3 } },
        add(0, 0, 1),
        give(0),
    ];
    let through_rust =
        vec![Op::Again { dst: 1.into(), function: Imm(3), a: 0.into() }, add(0, 0, 1), give(0)];
    let outer = vec![set(4, 9), call(1, 4, 0), add(0, 4, 1), give(0)];
    let expected =
        vec![(0, 1, vec![(0, 5), (1, 3)]), (3, 1, vec![(0, 5)]), (4, 0, vec![(0, 5)]), (5, 1, vec![(4, 9)])];
    check(&[inner, tails, quiet, run, through_rust, outer], 5, Ok(9 + 5 + 5 + 5 + 3), &[expected]);
}

#[test]
fn frames_of_failed_calls_are_gone_wherever_the_failure_is_caught() {
    // Fails in a call of a call, which has not come back.
    let fails = vec![Op::JumpLess { a: 0.into(), k: Imm(10), to: Label(2) }, give(0), Op::Fail];
    let look = vec![Op::Look, call(1, 0, 0), add(0, 0, 1), give(0)];
    let quiet = |function| Op::TryQuietly { dst: 1.into(), function: Imm(function), a: 0.into() };
    // A function that shows its frame to nobody, and may be inlined.
    let tries = vec![quiet(1), add(0, 0, 1), give(0)];
    let outer = vec![call(1, 2, 0), Op::Look, quiet(1), Op::Look, add(0, 0, 1), give(0)];
    let in_look = |after: Vec<Shown>| [vec![(1, 0, vec![(0, 5)])], after].concat();
    let here = |at: u32| vec![(3, at, vec![(0, 5)])];
    let expected =
        [in_look(here(0)), vec![(3, 1, vec![(0, 5)])], in_look(vec![]), vec![(3, 3, vec![(0, 5), (1, 77)])]];
    check(&[fails, look, tries, outer], 5, Ok(5 + 77), &expected);
}

#[test]
fn what_is_only_read_cannot_be_written_until_that_is_over() {
    let code = vec![Op::ChangeWhatCanBe { dst: 1.into() }, set(2, 1000), add(1, 1, 2), add(0, 0, 1), give(0)];
    let tiers = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];
    for tier in tiers.into_iter().filter(|tier| *tier == Tier::Interpreter || can_compile().is_ok()) {
        let engine: Engine<Op> = Builder::default().only(tier).registers_only_read(true).build();
        let function = engine.define("f", code.clone(), 5).expect("it is right");
        let mut vm = Vm { engine: &raw const engine, functions: vec![function], seen: Vec::new() };
        // Only the optimizer counts on it.
        let written = 50 + 1 + 1000;
        let first = if tier == Tier::Optimizer { 7 + 1000 } else { written };
        assert_eq!(engine.call(function, &mut vm, (7u64,)), Ok(first), "{tier:?}");
        engine.let_registers_be_written();
        assert_eq!(engine.call(function, &mut vm, (7u64,)), Ok(written), "{tier:?}");
    }
}

#[test]
fn loops_show_the_same_in_all_tiers() {
    let code = vec![
        set(2, 1),
        // Here the loop starts.
        Op::Look,
        add(1, 1, 2),
        Op::JumpLess { a: 1.into(), k: Imm(20), to: Label(1) },
        add(0, 0, 1),
        give(0),
    ];
    let expected: Vec<Vec<Shown>> = (0..20).map(|n| vec![(0, 1, vec![(0, 5), (1, n), (2, 1)])]).collect();
    check(&[code], 5, Ok(25), &expected);
}

/// Functions that are inlined because they have not looked so far: when they do, control has left them, and their callers wait.
#[test]
fn what_was_inlined_looks_when_control_has_left_it() {
    let inner = vec![Op::LookIfLarge { a: 0.into() }, add(1, 0, 0), give(1)];
    let middle = vec![set(3, 4), call(1, 0, 0), add(1, 1, 3), give(1)];
    let outer = vec![
        set(2, 1),
        // Here the loop starts.
        call(3, 1, 1),
        add(4, 4, 3),
        add(1, 1, 2),
        Op::JumpLess { a: 1.into(), k: Imm(103), to: Label(1) },
        add(0, 0, 4),
        give(0),
    ];
    let sum = |n: u64| (0..n).map(|at| 2 * at + 4).sum::<u64>();
    let seen = |n: u64| {
        let registers = vec![(0, 5), (1, n), (2, 1), (4, sum(n))];
        vec![(0, 0, vec![(0, n)]), (1, 1, vec![(3, 4)]), (2, 1, registers)]
    };
    check(&[inner, middle, outer], 5, Ok(5 + sum(103)), &[seen(100), seen(101), seen(102)]);
}

/// A function in which another is inlined looks behind it, and calls what looks.
#[test]
fn a_function_is_shown_at_its_own_bytecodes_whatever_is_inlined_in_it() {
    let inner = vec![add(1, 0, 0), Op::JumpLess { a: 1.into(), k: Imm(3), to: Label(2) }, give(1)];
    let looks = vec![Op::Look, give(0)];
    let outer = vec![set(1, 2), call(2, 0, 1), Op::Look, call(3, 1, 2), add(2, 2, 3), add(2, 2, 0), give(2)];
    let expected =
        [vec![(2, 2, vec![(0, 5), (2, 4)])], vec![(1, 0, vec![(0, 4)]), (2, 3, vec![(0, 5), (2, 4)])]];
    check(&[inner, looks, outer], 5, Ok(13), &expected);
}

/// What has become part of its caller's code is shown like what was called, and is read again where somebody may have written.
#[test]
fn inlined_functions_are_shown_with_their_callers() {
    let inner = vec![Op::Look, Op::Change, add(0, 0, 0), give(0)];
    let middle = vec![
        set(2, 3),
        // Here a loop starts.
        call(1, 0, 2),
        add(3, 3, 1),
        Op::JumpLess { a: 3.into(), k: Imm(20), to: Label(1) },
        add(0, 0, 3),
        give(0),
    ];
    let outer = vec![set(4, 9), call(1, 1, 0), Op::Look, add(0, 1, 4), give(0)];
    // Each time all registers that are alive get one more.
    let seen = |n: u64, sum: u64| {
        vec![
            (0, 0, vec![(0, 3 + n)]),
            (1, 1, vec![(0, 5 + n), (2, 3 + n), (3, sum + n)]),
            (2, 1, vec![(4, 9 + n)]),
        ]
    };
    // The inner function returns 8, then 10.
    let expected = [seen(0, 0), seen(1, 8), vec![(2, 2, vec![(1, 27), (4, 11)])]];
    check(&[inner.clone(), middle.clone(), outer.clone()], 5, Ok(38), &expected);
    if can_compile().is_err() {
        return;
    }
    let engine: Engine<Op> = Builder::default().only(Tier::Optimizer).build();
    let functions = [inner, middle, outer].map(|code| engine.define("f", code, 5).expect("it is right"));
    engine.compile(functions[2]).expect("it is small");
    assert!(engine.stats().inlined >= 2, "{:?}", engine.stats());
}

/// A function of Rust shows its callers to the bytecode that it calls, whatever else it shows. One that calls none is in nobody's way.
#[test]
fn callers_of_rust_that_calls_bytecode_are_shown() {
    let looks = vec![Op::Look, give(0)];
    let quiet = Op::AgainQuietly { dst: 1.into(), function: Imm(0), a: 0.into() };
    let middle = vec![quiet, add(0, 0, 1), give(0)];
    let around = vec![set(3, 8), call(1, 1, 0), add(0, 1, 3), give(0)];
    let outer = vec![set(4, 9), call(1, 2, 0), add(0, 1, 4), give(0)];
    let expected = vec![(0, 0, vec![(0, 5)]), (2, 1, vec![(3, 8)]), (3, 1, vec![(4, 9)])];
    check(&[looks, middle, around, outer], 5, Ok(10 + 8 + 9), &[expected]);
    if can_compile().is_err() {
        return;
    }
    let engine: Engine<Op> = Builder::default().only(Tier::Optimizer).build();
    let leaf = vec![Op::Twice { dst: 1.into(), a: 0.into() }, give(1)];
    let outer = vec![call(1, 0, 0), add(0, 0, 1), give(0)];
    let functions = [leaf, outer].map(|code| engine.define("f", code, 5).expect("it is right"));
    engine.compile(functions[1]).expect("it is small");
    assert_eq!(engine.stats().inlined, 1);
    let mut vm = Vm { engine: &raw const engine, functions: functions.to_vec(), seen: Vec::new() };
    assert_eq!(engine.call(functions[1], &mut vm, (5u64,)), Ok(15u64));
}

/// What its caller will read is seen while an inlined function runs which never comes back.
#[test]
fn callers_of_inlined_functions_without_an_end_are_shown() {
    let forever = vec![
        Op::Look,
        Op::Suspend { dst: 1.into(), a: 0.into() },
        Op::JumpLess { a: 0.into(), k: Imm(1000), to: Label(0) },
        Op::Fail,
    ];
    let middle = vec![set(3, 8), set(4, 70), call(1, 0, 0), add(1, 1, 3), give(1)];
    let on_fiber = vec![set(3, 6), call(1, 1, 0), add(1, 1, 3), give(1)];
    let outer = vec![Op::OnFiber { dst: 1.into(), function: Imm(2), a: 0.into() }, give(1)];
    let inside = |at| vec![(0, at, vec![(0, 5)]), (1, 2, vec![(3, 8)]), (2, 1, vec![(3, 6)])];
    if can_switch() {
        let expected = [[inside(0), vec![(3, 0, vec![])]].concat(), inside(1)];
        check(&[forever, middle, on_fiber, outer], 5, Ok(5), &expected);
    }
    let fails = vec![Op::Look, Op::Fail];
    let waits = vec![set(3, 8), call(1, 0, 0), add(1, 1, 3), give(1)];
    let outer = vec![set(4, 7), call(1, 1, 0), add(1, 1, 4), give(1)];
    let expected = vec![(0, 0, vec![]), (1, 1, vec![(3, 8)]), (2, 1, vec![(4, 7)])];
    check(&[fails, waits, outer], 5, Err(()), &[expected]);
}

#[test]
fn calls_that_fail_leave_no_frame() {
    let fails = vec![Op::Look, Op::Fail];
    let panics = vec![Op::Look, Op::Panic, give(0)];
    let deep = |function| vec![call(1, function, 0), give(1)];
    let again = |function| Op::Again { dst: 1.into(), function: Imm(function), a: 0.into() };
    let outer = vec![again(2), Op::Look, again(3), Op::Look, give(0)];
    let own = |at| (4, at, vec![(0, 5)]);
    let inner = |function, at, from: Vec<(u32, u64)>| {
        vec![(function, at, from), (function + 2, 0, vec![]), own(2 * function)]
    };
    let mut expected = vec![inner(0, 0, vec![]), vec![own(1)]];
    if cfg!(not(windows)) {
        expected.extend([inner(1, 0, vec![(0, 5)]), vec![own(3)]]);
        check(&[fails, panics, deep(0), deep(1), outer], 5, Ok(5), &expected);
    } else {
        let outer = vec![again(2), Op::Look, give(0)];
        check(&[fails, panics, deep(0), deep(1), outer], 5, Ok(5), &expected);
    }
    // The call from outside fails: the next one starts with nothing.
    check(
        &[vec![Op::Look, Op::Fail], vec![call(1, 0, 0), give(1)]],
        5,
        Err(()),
        &[vec![(0, 0, vec![]), (1, 0, vec![])]],
    );
}

#[test]
fn a_fiber_shows_its_frames_and_those_of_who_resumed_it() {
    if !can_switch() {
        return;
    }
    let inner = vec![Op::Look, Op::Suspend { dst: 1.into(), a: 0.into() }, add(0, 0, 1), give(0)];
    let on_fiber = vec![set(3, 8), call(1, 0, 0), add(1, 1, 3), give(1)];
    let outer =
        vec![Op::OnFiber { dst: 1.into(), function: Imm(1), a: 0.into() }, Op::Look, add(0, 0, 1), give(0)];
    let expected = [
        vec![(0, 0, vec![(0, 5)]), (1, 1, vec![(3, 8)]), (2, 0, vec![(0, 5)])],
        // While it is suspended it has only its own.
        vec![(0, 1, vec![(0, 5)]), (1, 1, vec![(3, 8)])],
        vec![(2, 1, vec![(0, 5), (1, 5)])],
    ];
    check(&[inner, on_fiber, outer], 5, Ok(10), &expected);
}
