//! Tail calls between functions of bytecode, in every tier and between tiers.

mod ways;

use azulejo::Error;
use azulejo::prelude::*;
use ways::ways;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    AddConst {
        dst: Out<i64>,
        a: In<i64>,
        k: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    JumpLess {
        a: In<i64>,
        k: Imm<i64>,
        to: Label,
    },
    /// Leaves compiled code.
    Leave {
        a: In<i64>,
    },
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        args: Regs,
    },
    Tail2 {
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    Tail8 {
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    TailFloat {
        f: Imm<u32>,
        a: In<i64>,
        x: In<f64>,
    },
    TailRun {
        f: Imm<u32>,
        args: Regs,
    },
    TailDynamic {
        f: In<u32>,
        args: Regs,
    },
    TailUnless {
        a: In<i64>,
        f: Imm<u32>,
        args: Regs,
    },
    Return {
        a: In<i64>,
    },
    ReturnFloat {
        x: In<f64>,
    },
}

template! {
    Op::AddConst    => (add $a $k)
    Op::Add         => (add $a $b)
    Op::Divide      => (div $a $b)
    Op::JumpLess    => (when (lt $a $k) (branch $to))
    Op::Leave       => (when (nz (and $a 1)) (exit))
    Op::Call        => (invoke $f (arglist $args) i64)
    Op::Tail2       => (tail $f (arglist $a $b))
    Op::Tail8       => (tail $f (arglist $a $b 3 (add $a 4) 5 6 7 8))
    Op::TailFloat   => (tail $f (arglist $a $x))
    Op::TailRun     => (tail $f (arglist $args))
    Op::TailDynamic => (tail $f (arglist $args))
    Op::TailUnless  => (when (nz $a) (tail $f (arglist $args)))
    Op::Return      => (return $a)
    Op::ReturnFloat => (return $x)
}

fn reg(index: u32) -> In<i64> {
    index.into()
}

fn out(index: u32) -> Out<i64> {
    index.into()
}

fn engines() -> impl Iterator<Item = (&'static str, Engine<Op>)> {
    ways().into_iter().map(|(name, build)| (name, build().checks(true).build()))
}

/// Counts its first argument down and adds it to its second, with a tail call for each number.
fn sum_down(own: u32) -> Vec<Op> {
    vec![
        Op::JumpLess { a: reg(0), k: Imm(1), to: Label(4) },
        Op::Add { dst: out(1), a: reg(1), b: reg(0) },
        Op::AddConst { dst: out(0), a: reg(0), k: Imm(-1) },
        Op::Tail2 { f: Imm(own), a: reg(0), b: reg(1) },
        Op::Return { a: reg(1) },
    ]
}

#[test]
fn a_million_calls_take_no_room() {
    for (name, engine) in engines() {
        let function = engine.define("sum", sum_down(0), 2).expect("it is right");
        let result: i64 = engine.call(function, &mut (), (1_000_000i64, 0i64)).expect("it ends");
        assert_eq!(result, 500_000_500_000, "{name}");
        let result: i64 = engine.interpret(function, &mut (), (1000i64, 0i64)).expect("it ends");
        assert_eq!(result, 500_500, "{name}");
    }
}

/// A cycle of functions with different numbers of arguments, each of which makes a tail call to the next one.
fn circle(counts: &[u32]) -> Vec<(Vec<Op>, u32)> {
    let function = |(at, &count): (usize, &u32)| {
        let next = (at + 1) % counts.len();
        let passed = counts[next];
        let room = count.max(passed);
        // The first argument counts down, the second is a sum, and the last one is the previous sum.
        let code = vec![
            Op::AddConst { dst: out(1), a: reg(1), k: Imm(at as i64 + 1) },
            Op::AddConst { dst: out(room + passed - 1), a: reg(count - 1), k: Imm(0) },
            Op::Add { dst: out(1), a: reg(1), b: reg(room + passed - 1) },
            Op::AddConst { dst: out(room), a: reg(0), k: Imm(-1) },
            Op::AddConst { dst: out(room + 1), a: reg(1), k: Imm(0) },
            Op::AddConst { dst: out(room + passed - 1), a: reg(room + 1), k: Imm(0) },
            Op::TailUnless { a: reg(0), f: Imm(next as u32), args: Regs { first: room, count: passed } },
            Op::Return { a: reg(1) },
        ];
        (code, room + passed)
    };
    counts.iter().enumerate().map(function).collect()
}

/// The result of the cycle.
fn around(counts: &[u32], mut n: i64) -> i64 {
    let (mut at, mut sum, mut last) = (0, 0i64, 0i64);
    loop {
        sum = sum.wrapping_add(at as i64 + 1);
        sum = if counts[at] == 2 { sum.wrapping_add(sum) } else { sum.wrapping_add(last) };
        if n == 0 {
            return sum;
        }
        (n, last, at) = (n - 1, sum, (at + 1) % counts.len());
    }
}

#[test]
fn argument_counts_may_differ() {
    for counts in [&[2][..], &[2, 3], &[6, 7], &[2, 9, 4, 12], &[70, 3, 66, 5], &[8, 8, 8]] {
        for (name, engine) in engines() {
            for (at, (code, registers)) in circle(counts).into_iter().enumerate() {
                engine.define(format!("f{at}"), code, registers).expect("it is right");
            }
            let first = engine.declare("first", || None);
            let start = vec![Op::TailRun { f: Imm(0), args: Regs { first: 0, count: counts[0] } }];
            let start = engine.define("start", start, counts[0]).expect("it is right");
            assert!(start > first);
            for n in [0, 1, 5, 60, 20_000] {
                let result: i64 = engine.call(start, &mut (), (n,)).expect("it ends");
                assert_eq!(result, around(counts, n), "{name}, {counts:?}, {n}");
            }
        }
    }
}

#[test]
fn what_is_called_may_be_left_and_interpreted() {
    // One of the two functions is never compiled, or is left in every call.
    for (compiled, leaves) in [(true, false), (false, true), (true, true), (false, false)] {
        let engine = Engine::<Op>::builder().up_to(Tier::Interpreter).build();
        let code = |other: u32| {
            let step = if leaves {
                Op::Leave { a: reg(0) }
            } else {
                Op::AddConst { dst: out(2), a: reg(0), k: Imm(0) }
            };
            let mut code = sum_down(other);
            code.insert(1, step);
            code[0] = Op::JumpLess { a: reg(0), k: Imm(1), to: Label(5) };
            code
        };
        let one = engine.define("one", code(1), 3).expect("it is right");
        let other = engine.define("other", code(0), 3).expect("it is right");
        let call = vec![
            Op::Call { dst: out(2), f: Imm(0), args: Regs { first: 0, count: 2 } },
            Op::AddConst { dst: out(2), a: reg(2), k: Imm(1) },
            Op::Return { a: reg(2) },
        ];
        let caller = engine.define("caller", call, 3).expect("it is right");
        if azulejo::can_compile().is_ok() {
            engine.compile(one).expect("it is compiled");
            engine.compile(caller).expect("it is compiled");
            if compiled {
                engine.compile_in(other, Tier::Baseline).expect("it is compiled");
            }
        }
        for _ in 0..3 {
            let result: i64 = engine.call(one, &mut (), (100_000i64, 0i64)).expect("it ends");
            assert_eq!(result, 5_000_050_000, "{compiled} {leaves}");
            let result: i64 = engine.call(caller, &mut (), (100_000i64, 0i64)).expect("it ends");
            assert_eq!(result, 5_000_050_001, "{compiled} {leaves}");
        }
    }
}

#[test]
fn the_caller_gets_the_last_ones_result() {
    for (name, engine) in engines() {
        let down = engine.define("sum", sum_down(0), 2).expect("it is right");
        let twice = vec![
            Op::Call { dst: out(2), f: Imm(down.number()), args: Regs { first: 0, count: 2 } },
            Op::Call { dst: out(3), f: Imm(down.number()), args: Regs { first: 0, count: 2 } },
            Op::Add { dst: out(2), a: reg(2), b: reg(3) },
            Op::Return { a: reg(2) },
        ];
        let twice = engine.define("twice", twice, 4).expect("it is right");
        for n in 0..60i64 {
            let result: i64 = engine.call(twice, &mut (), (n, 7i64)).expect("it ends");
            assert_eq!(result, n * (n + 1) + 14, "{name}");
        }
    }
}

#[test]
fn floats_and_constants_arrive() {
    for (name, engine) in engines() {
        let eight = (1..8).map(|at| Op::Add { dst: out(0), a: reg(0), b: reg(at) });
        let eight: Vec<Op> = eight.chain([Op::Return { a: reg(0) }]).collect();
        let eight = engine.define("eight", eight, 8).expect("it is right");
        let float = engine.define("float", vec![Op::ReturnFloat { x: 1.into() }], 2).expect("it is right");
        let first = vec![Op::Tail8 { f: Imm(eight.number()), a: reg(0), b: reg(1) }];
        let first = engine.define("first", first, 2).expect("it is right");
        let second = vec![Op::TailFloat { f: Imm(float.number()), a: reg(0), x: 1.into() }];
        let second = engine.define("second", second, 2).expect("it is right");
        let dynamic = vec![Op::TailDynamic { f: 0.into(), args: Regs { first: 1, count: 2 } }];
        let dynamic = engine.define("dynamic", dynamic, 3).expect("it is right");
        for n in 0..50i64 {
            assert_eq!(engine.call(first, &mut (), (n, 100i64)), Ok(2 * n + 133), "{name}");
            assert_eq!(engine.call(second, &mut (), (n, n as f64 / 3.0)), Ok(n as f64 / 3.0), "{name}");
            let number = float.number();
            assert_eq!(
                engine.call(dynamic, &mut (), (number, n, n as f64 / 7.0)),
                Ok(n as f64 / 7.0),
                "{name}"
            );
        }
    }
}

#[test]
fn what_fails_then_fails_for_the_caller() {
    for (name, engine) in engines() {
        let divide = vec![
            Op::AddConst { dst: out(2), a: reg(0), k: Imm(0) },
            Op::Divide { dst: out(2), a: reg(0), b: reg(1) },
            Op::Return { a: reg(2) },
        ];
        let divide = engine.define("divide", divide, 3).expect("it is right");
        let first = vec![Op::Tail2 { f: Imm(divide.number()), a: reg(0), b: reg(1) }];
        let first = engine.define("first", first, 2).expect("it is right");
        let call = vec![
            Op::Call { dst: out(2), f: Imm(first.number()), args: Regs { first: 0, count: 2 } },
            Op::Return { a: reg(2) },
        ];
        let caller = engine.define("caller", call, 3).expect("it is right");
        let nobody = vec![Op::Tail2 { f: Imm(99), a: reg(0), b: reg(1) }];
        let nobody = engine.define("nobody", nobody, 2).expect("it is right");
        let many = vec![Op::TailRun { f: Imm(first.number()), args: Regs { first: 0, count: 9 } }];
        let many = engine.define("many", many, 9).expect("it is right");
        for _ in 0..50 {
            let call = |function, b: i64| engine.call::<_, i64>(function, &mut (), (10i64, b));
            let failed = |trap, at| Err(Error::Trap { trap, at });
            assert_eq!(call(first, 2), Ok(5), "{name}");
            assert_eq!(call(first, 0), failed(Trap::DivideByZero, 1), "{name}");
            assert_eq!(call(caller, 5), Ok(2), "{name}");
            assert_eq!(call(caller, 0), failed(Trap::DivideByZero, 0), "{name}");
            assert_eq!(call(nobody, 0), failed(Trap::BadCall, 0), "{name}");
            assert_eq!(call(many, 0), failed(Trap::BadCall, 0), "{name}");
        }
    }
}

/// The target of a tail call is made at its first call, and its maker runs functions that make tail calls, too.
#[test]
fn makers_may_run_functions_that_take_each_others_place() {
    for (name, engine) in engines() {
        let engine = std::rc::Rc::new(engine);
        let sum = vec![Op::Add { dst: out(0), a: reg(0), b: reg(1) }, Op::Return { a: reg(0) }];
        let sum = engine.define("sum", sum, 2).expect("it is right");
        let tail = vec![Op::Tail2 { f: Imm(sum.number()), a: reg(0), b: reg(1) }];
        let inner = engine.define("inner", tail, 2).expect("it is right");
        for count in [2, 8] {
            let again = std::rc::Rc::downgrade(&engine);
            let late = engine.declare("late", move || {
                let engine = again.upgrade().expect("it is there");
                assert_eq!(engine.call(inner, &mut (), (10i64, 4i64)), Ok(14i64));
                let add = (1..count).map(|at| Op::Add { dst: out(0), a: reg(0), b: reg(at) });
                let code: Vec<Op> = add.chain([Op::Return { a: reg(0) }]).collect();
                Some((code.into(), count))
            });
            let f = Imm(late.number());
            let first = match count {
                2 => Op::Tail2 { f, a: reg(0), b: reg(1) },
                _ => Op::Tail8 { f, a: reg(0), b: reg(1) },
            };
            let first = engine.define("first", vec![first], 2).expect("it is right");
            let call = vec![
                Op::Call { dst: out(2), f: Imm(first.number()), args: Regs { first: 0, count: 2 } },
                Op::Return { a: reg(2) },
            ];
            let caller = engine.define("caller", call, 3).expect("it is right");
            let expected = if count == 2 { 3 } else { 1 + 2 + 3 + 5 + 5 + 6 + 7 + 8 };
            for function in [first, caller] {
                assert_eq!(engine.call(function, &mut (), (1i64, 2i64)), Ok(expected), "{name}");
            }
        }
    }
}

#[test]
fn a_long_row_of_functions_reaches_code_that_does_not_come_back_between_them() {
    // The function makes tail calls to itself, from the interpreter and from compiled code, after one call from outside.
    for thresholds in [(3, 40), (50, 1000)] {
        let engine: Engine<Op> = Engine::<Op>::builder().thresholds(thresholds.0, thresholds.1).build();
        let sum = engine.define("sum", sum_down(0), 2).expect("it is right");
        assert_eq!(engine.call::<_, i64>(sum, &mut (), (100_000i64, 0i64)), Ok(100_000 * 100_001 / 2));
        if azulejo::can_compile().is_ok() {
            let stats = engine.stats();
            assert_eq!(stats.optimizer_for_calls.compiled, 1, "{thresholds:?}: {stats}");
        }
    }
}

#[test]
fn a_failure_behind_many_functions_is_the_same_in_each_tier() {
    for (name, engine) in engines() {
        let divide = vec![
            Op::AddConst { dst: out(0), a: reg(0), k: Imm(-1) },
            Op::Divide { dst: out(2), a: reg(1), b: reg(0) },
            Op::Tail2 { f: Imm(0), a: reg(0), b: reg(1) },
        ];
        let divide = engine.define("divide", divide, 3).expect("it is right");
        for n in [2i64, 5, 9, 10, 200].into_iter().cycle().take(20) {
            // After a few tail calls the error still names the bytecode.
            let at = if n <= 9 { 1 } else { 0 };
            let result = engine.call::<_, i64>(divide, &mut (), (n, 1i64));
            assert_eq!(result, Err(Error::Trap { trap: Trap::DivideByZero, at }), "{name} {n}");
        }
    }
}
