//! Functions that make their frame where they need it: what ends before that, and what leaves a function from there.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpLess { a: In<i64>, k: Imm<i64>, to: Label },
    Invoke { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    InvokeMany { dst: Out<i64>, f: Imm<u32>, args: Regs },
    Tail { f: Imm<u32>, a: In<i64> },
    Leave { a: In<i64> },
    Check { a: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::AddConst => (add $a $k)
    Op::Add => (add $a $b)
    Op::Divide => (div $a $b)
    Op::JumpLess => (when (lt $a $k) (branch $to))
    Op::Invoke => (invoke $f (arglist $a) i64)
    Op::InvokeMany => unsafe (invoke $f (arglist (spread (window $args) (length $args))) i64)
    Op::Tail => (tail $f (arglist $a))
    Op::Leave => (when (unlikely (eq $a -7)) (exit))
    Op::Check => (callv throws check (arglist (carg $a i64)))
    Op::Return => (return $a)
}

fn check(a: i64) -> Result<(), Trap> {
    assert!(a != 77, "this one panics");
    if a == 66 { Err(Trap::User(3)) } else { Ok(()) }
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// fib, whose number is `f`.
fn fib(f: u32) -> Vec<Op> {
    vec![
        Op::JumpLess { a: r(0), k: Imm(2), to: Label(7) },
        Op::AddConst { dst: r(1), a: r(0), k: Imm(-1) },
        Op::Invoke { dst: r(1), f: Imm(f), a: r(1) },
        Op::AddConst { dst: r(0), a: r(0), k: Imm(-2) },
        Op::Invoke { dst: r(0), f: Imm(f), a: r(0) },
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::Return { a: r(0) },
        Op::Return { a: r(0) },
    ]
}

/// The optimizer's code.
fn instructions(engine: &Engine<Op>, function: FunctionId) -> Vec<Instruction> {
    let listing = engine.disassemble(function).expect("it was compiled");
    Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE).iter().collect()
}

/// What changes the stack pointer, and the returns and jumps away, on the way on which no jump is taken or all are.
fn on_the_way(code: &[Instruction], takes_jumps: bool) -> Vec<Mnemonic> {
    let at = |ip: u64| code.iter().position(|one| one.ip() == ip).expect("jumps lead to instructions");
    let (mut next, mut seen) = (0, Vec::new());
    loop {
        let one = &code[next];
        next += 1;
        match one.flow_control() {
            FlowControl::Return | FlowControl::IndirectBranch => {
                seen.push(one.mnemonic());
                return seen;
            }
            FlowControl::ConditionalBranch if takes_jumps => next = at(one.near_branch_target()),
            FlowControl::UnconditionalBranch => next = at(one.near_branch_target()),
            _ if matches!(one.mnemonic(), Mnemonic::Push | Mnemonic::Pop) => seen.push(one.mnemonic()),
            _ if one.op0_kind() == OpKind::Register && one.op0_register() == iced_x86::Register::RSP => {
                seen.push(one.mnemonic());
            }
            _ => {}
        }
    }
}

#[test]
fn what_ends_soon_makes_no_frame() {
    let engine: Engine<Op> = Engine::<Op>::builder().inlining(false).build();
    let function = engine.define("fib", fib(0), 2).expect("it is right");
    engine.compile(function).expect("it compiles");
    let code = instructions(&engine, function);
    let ways = [true, false].map(|takes_jumps| on_the_way(&code, takes_jumps));
    let simple = ways.iter().find(|way| way[..] == [Mnemonic::Ret]);
    assert!(simple.is_some(), "one way does nothing to the stack: {ways:?}");
    let other = ways.iter().find(|way| way.contains(&Mnemonic::Push)).expect("the other one makes a frame");
    let count = |mnemonic: Mnemonic| other.iter().filter(|one| **one == mnemonic).count();
    assert_eq!(
        (count(Mnemonic::Push), count(Mnemonic::Sub)),
        (count(Mnemonic::Pop), count(Mnemonic::Add)),
        "{other:?}"
    );
    assert_eq!(engine.call::<_, i64>(function, &mut (), (20i64,)), Ok(6765));
}

/// A leaf needs its frame only where it is left, and a function that takes long to get to its simple end makes it at once.
#[test]
fn a_leaf_makes_none_and_a_long_way_makes_one_at_once() {
    let engine: Engine<Op> = Engine::new();
    let leaf =
        vec![Op::Leave { a: r(0) }, Op::AddConst { dst: r(0), a: r(0), k: Imm(5) }, Op::Return { a: r(0) }];
    let leaf = engine.define("leaf", leaf, 1).expect("it is right");
    engine.compile(leaf).expect("it compiles");
    assert_eq!(on_the_way(&instructions(&engine, leaf), false), [Mnemonic::Ret]);
    for (a, result) in [(4i64, 9i64), (-7, -2)] {
        assert_eq!(engine.call::<_, i64>(leaf, &mut (), (a,)), Ok(result));
    }
    let mut code = vec![Op::JumpLess { a: r(0), k: Imm(0), to: Label(0) }; 20];
    let end = code.len() as u32 + 2;
    for (at, op) in code.iter_mut().enumerate() {
        *op = Op::JumpLess { a: r(0), k: Imm(at as i64), to: Label(end) };
    }
    code.extend([
        Op::Check { a: r(0) },
        Op::AddConst { dst: r(0), a: r(0), k: Imm(1) },
        Op::Return { a: r(0) },
    ]);
    let long = engine.define("long", code, 1).expect("it is right");
    engine.compile(long).expect("it compiles");
    let way = on_the_way(&instructions(&engine, long), true);
    assert!(way.contains(&Mnemonic::Push) || way.contains(&Mnemonic::Sub), "{way:?}");
}

/// Ends, calls, exits, failures and tail calls from both sides of the place where the frame is made, in all tiers.
#[test]
fn control_leaves_from_both_sides() {
    // f(a): if a < 5 return a; if a < 10 tail call of g; check(a); …; leave; return g(a) / a
    let f = |g: u32| {
        vec![
            Op::Leave { a: r(0) },
            Op::JumpLess { a: r(0), k: Imm(5), to: Label(8) },
            Op::JumpLess { a: r(0), k: Imm(10), to: Label(7) },
            Op::AddConst { dst: r(1), a: r(0), k: Imm(-90) },
            Op::Check { a: r(0) },
            Op::Invoke { dst: r(2), f: Imm(g), a: r(0) },
            Op::Divide { dst: r(0), a: r(2), b: r(1) },
            Op::Tail { f: Imm(g), a: r(0) },
            Op::Return { a: r(0) },
        ]
    };
    let g = vec![
        Op::JumpLess { a: r(0), k: Imm(8), to: Label(4) },
        Op::Check { a: r(0) },
        Op::AddConst { dst: r(0), a: r(0), k: Imm(1000) },
        Op::Return { a: r(0) },
        Op::AddConst { dst: r(0), a: r(0), k: Imm(100) },
        Op::Return { a: r(0) },
    ];
    let expected = |a: i64| match a {
        _ if a < 5 => Ok(a),
        _ if a < 8 => Ok(a + 100),
        _ if a < 10 => Ok(a + 1000),
        66 => Err(Trap::User(3)),
        90 => Err(Trap::DivideByZero),
        _ => Ok(match (a + 1000) / (a - 90) {
            quotient if quotient < 8 => quotient + 100,
            66 => unreachable!("no quotient fails"),
            quotient => quotient + 1000,
        }),
    };
    for (name, engine) in [
        ("all tiers", Engine::<Op>::builder().thresholds(3, 3).build()),
        ("backtraces", Engine::<Op>::builder().thresholds(3, 3).backtraces(true).build()),
        ("frame pointers", Engine::<Op>::builder().thresholds(3, 3).frame_pointers(true).build()),
        ("alone", Engine::<Op>::builder().thresholds(3, 3).inlining(false).build()),
    ] {
        let g = engine.define("g", g.clone(), 1).expect("it is right");
        let f = engine.define("f", f(0), 3).expect("it is right");
        for a in (0..12).cycle().take(60).chain(-10..160).filter(|a| *a != 77) {
            let result = engine.call::<_, i64>(f, &mut (), (a,));
            match (result, expected(a)) {
                (Ok(result), expected) => assert_eq!(Ok(result), expected, "{a}, {name}"),
                (Err(Error::Trap { trap, .. }), expected) => assert_eq!(Err(trap), expected, "{a}, {name}"),
                (Err(other), _) => panic!("{a}, {name}: {other}"),
            }
        }
        assert!(engine.tier(f) == Tier::Optimizer && engine.tier(g) == Tier::Optimizer, "{name}");
    }
}

/// Arguments that the caller put on the stack are read before the frame is made and behind that.
#[test]
fn arguments_on_the_stack_are_found_from_both_sides() {
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(3, 3).inlining(false).build();
    // Eight arguments; the seventh is a result at once, the eighth behind a call.
    let f = vec![
        Op::JumpLess { a: r(0), k: Imm(5), to: Label(5) },
        Op::Check { a: r(0) },
        Op::Add { dst: r(0), a: r(0), b: r(7) },
        Op::Check { a: r(0) },
        Op::Return { a: r(0) },
        Op::Return { a: r(6) },
    ];
    let f = engine.define("f", f, 8).expect("it is right");
    let mut g: Vec<Op> =
        (1..8u32).map(|at| Op::AddConst { dst: r(at), a: r(0), k: Imm(100 * at as i64) }).collect();
    let args = Regs { first: 0, count: 8 };
    g.extend([Op::InvokeMany { dst: r(0), f: Imm(f.number()), args }, Op::Return { a: r(0) }]);
    let g = engine.define("g", g, 8).expect("it is right");
    for a in (0..9i64).cycle().take(60) {
        let expected = if a < 5 { a + 600 } else { 2 * a + 700 };
        assert_eq!(engine.call::<_, i64>(g, &mut (), (a,)), Ok(expected), "{a}");
    }
    assert!(engine.tier(f) == Tier::Optimizer && engine.tier(g) == Tier::Optimizer);
}

/// A panic goes through frames that were made late.
#[test]
#[cfg(unix)]
fn a_panic_passes_late_frames() {
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(3, 3).inlining(false).build();
    let f = |g: u32| {
        vec![
            Op::JumpLess { a: r(0), k: Imm(5), to: Label(4) },
            Op::AddConst { dst: r(1), a: r(0), k: Imm(1) },
            Op::Invoke { dst: r(0), f: Imm(g), a: r(0) },
            Op::Add { dst: r(0), a: r(0), b: r(1) },
            Op::Return { a: r(0) },
        ]
    };
    let g = vec![
        Op::JumpLess { a: r(0), k: Imm(8), to: Label(2) },
        Op::Check { a: r(0) },
        Op::Return { a: r(0) },
    ];
    let g = engine.define("g", g, 1).expect("it is right");
    let f = engine.define("f", f(g.number()), 2).expect("it is right");
    for a in (0..20i64).cycle().take(60) {
        let expected = if a < 5 { a } else { 2 * a + 1 };
        assert_eq!(engine.call::<_, i64>(f, &mut (), (a,)), Ok(expected));
    }
    assert!(engine.tier(f) == Tier::Optimizer && engine.tier(g) == Tier::Optimizer);
    let call = std::panic::AssertUnwindSafe(|| engine.call::<_, i64>(f, &mut (), (77i64,)));
    let panicked = std::panic::catch_unwind(call).expect_err("it panics");
    assert!(panicked.downcast_ref::<&str>().is_some_and(|message| message.contains("this one panics")));
    assert_eq!(engine.call::<_, i64>(f, &mut (), (10i64,)), Ok(21));
}
