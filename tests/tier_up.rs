//! Functions tier up while they run, and do the same in each tier.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;

type Context = Calls;

/// The context, by which bytecode calls the engine.
#[derive(Default)]
struct Calls {
    engine: Option<(*const Engine<Op>, FunctionId)>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Context)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    LeaveIfOdd { a: In<i64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Recurse { dst: Out<i64>, a: In<i64> },
    Return { a: In<i64> },
    ReturnFloat { a: In<f64> },
}

template! {
    Op::Load => $value
    Op::Add => (add $a $b)
    Op::AddFloat => (add $a $b)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::LeaveIfOdd => (guard (zr (and $a 1)) (discard $a))
    Op::Divide => (div $a $b)
    Op::Recurse => (call recurse (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Return => (return $a)
    Op::ReturnFloat => (return $a)
}

fn recurse(calls: &mut Calls, a: i64) -> i64 {
    let (engine, function) = calls.engine.expect("the engine is known");
    // SAFETY: the engine outlives its calls.
    unsafe { &*engine }.call(function, calls, (a,)).expect("it returns")
}

const N: u32 = 0;
const I: u32 = 1;
const SUM: u32 = 2;
const ONE: u32 = 3;

/// Sums up the numbers below `N`, with `inside` executed in each iteration.
fn sum(inside: &[Op]) -> Vec<Op> {
    let mut code = vec![Op::Load { dst: ONE.into(), value: Imm(1) }];
    code.push(Op::Add { dst: SUM.into(), a: SUM.into(), b: I.into() });
    code.extend(inside);
    code.push(Op::Add { dst: I.into(), a: I.into(), b: ONE.into() });
    code.push(Op::JumpLess { a: I.into(), b: N.into(), to: Label(1) });
    code.push(Op::Return { a: SUM.into() });
    code
}

fn of(n: i64) -> i64 {
    n * (n - 1) / 2
}

#[test]
fn one_call_tiers_up_in_the_middle_of_its_loop() {
    let engine = Engine::<Op>::builder().thresholds(10, 100).build();
    let function = engine.define("sum", sum(&[]), 4).expect("the code is right");
    assert_eq!(engine.tier(function), Tier::Interpreter);
    assert_eq!(engine.call(function, &mut Calls::default(), (5,)), Ok(of(5)));
    assert_eq!(engine.tier(function), Tier::Interpreter);
    assert_eq!(engine.call(function, &mut Calls::default(), (50,)), Ok(of(50)));
    assert_eq!(engine.tier(function), Tier::Baseline);
    assert_eq!(engine.call(function, &mut Calls::default(), (100_000,)), Ok(of(100_000)));
    // Only the loop was compiled. The next call finds that the function is worth compiling, too.
    assert_eq!(engine.call(function, &mut Calls::default(), (7,)), Ok(of(7)));
    assert_eq!(engine.tier(function), Tier::Optimizer);
    engine.discard(function).expect("it is defined");
    assert_eq!(engine.tier(function), Tier::Interpreter);
    assert_eq!(engine.call(function, &mut Calls::default(), (100_000,)), Ok(of(100_000)));
}

#[test]
fn the_interpreter_goes_on_as_long_as_it_must() {
    let engine = Engine::<Op>::new();
    let function = engine.define("sum", sum(&[]), 4).expect("the code is right");
    assert_eq!(engine.interpret(function, &mut Calls::default(), (200_000,)), Ok(of(200_000)));
    assert_eq!(engine.tier(function), Tier::Interpreter);
}

#[test]
fn a_tier_alone_is_used_alone() {
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Op>::builder().only(tier).build();
        let function = engine.define("sum", sum(&[]), 4).expect("the code is right");
        for n in [1, 1000] {
            assert_eq!(engine.call(function, &mut Calls::default(), (n,)), Ok(of(n)));
            assert_eq!(engine.tier(function), tier);
        }
        assert_eq!(engine.disassemble(function).is_ok(), tier > Tier::Interpreter);
    }
    let engine = Engine::<Op>::builder().up_to(Tier::Baseline).thresholds(3, 3).build();
    let function = engine.define("sum", sum(&[]), 4).expect("the code is right");
    for _ in 0..20 {
        assert_eq!(engine.call(function, &mut Calls::default(), (1000,)), Ok(of(1000)));
    }
    assert_eq!(engine.tier(function), Tier::Baseline);
}

#[test]
fn code_takes_over_again_behind_what_left_it() {
    // The guard fails in every second iteration.
    let code = sum(&[Op::LeaveIfOdd { a: I.into() }]);
    for tier in [None, Some(Tier::Baseline), Some(Tier::Optimizer)] {
        let builder = Engine::<Op>::builder().thresholds(3, 20);
        let engine = tier.map_or(builder.clone(), |tier| builder.only(tier)).build();
        let function = engine.define("sum", code.clone(), 4).expect("the code is right");
        assert_eq!(engine.call(function, &mut Calls::default(), (5000,)), Ok(of(5000)), "{tier:?}");
    }
}

#[test]
fn traps_and_floats_are_the_same_in_each_tier() {
    let code = sum(&[Op::Divide { dst: 4.into(), a: N.into(), b: 5.into() }]);
    let expected = Err(Error::Trap { trap: Trap::DivideByZero, at: 2 });
    let floats = vec![
        Op::AddFloat { dst: 2.into(), a: 0.into(), b: 1.into() },
        Op::AddFloat { dst: 2.into(), a: 2.into(), b: 2.into() },
        Op::AddFloat { dst: 2.into(), a: 0.into(), b: 2.into() },
        Op::ReturnFloat { a: 2.into() },
    ];
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Op>::builder().only(tier).build();
        let function = engine.define("trap", code.clone(), 6).expect("the code is right");
        assert_eq!(engine.call::<_, i64>(function, &mut Calls::default(), (5,)), expected, "{tier:?}");
        let function = engine.define("floats", floats.clone(), 3).expect("the code is right");
        assert_eq!(engine.call(function, &mut Calls::default(), (0.5, 2.0)), Ok(5.5), "{tier:?}");
    }
}

#[test]
fn functions_are_replaced_under_their_callers() {
    // f(n) = n + f(n - 1): before the innermost call returns, the function has reached the highest tier.
    let code = vec![
        Op::Load { dst: 1.into(), value: Imm(1) },
        Op::JumpLess { a: 0.into(), b: 1.into(), to: Label(6) },
        Op::Load { dst: 2.into(), value: Imm(-1) },
        Op::Add { dst: 3.into(), a: 0.into(), b: 2.into() },
        Op::Recurse { dst: 4.into(), a: 3.into() },
        Op::Add { dst: 0.into(), a: 0.into(), b: 4.into() },
        Op::Return { a: 0.into() },
    ];
    let engine = Engine::<Op>::builder().thresholds(20, 20).build();
    let function = engine.define("f", code, 5).expect("the code is right");
    let mut calls = Calls { engine: Some((&raw const engine, function)) };
    assert_eq!(engine.call(function, &mut calls, (100,)), Ok(of(101)));
    assert_eq!(engine.tier(function), Tier::Optimizer);
    assert_eq!(engine.call(function, &mut calls, (90,)), Ok(of(91)));
}

#[test]
fn what_does_not_fit_is_interpreted_and_what_was_thrown_away_tiers_up_again() {
    let engine = Engine::<Op>::builder().thresholds(2, 10).code_bytes(2048).build();
    let functions: Vec<FunctionId> =
        (0..40).map(|_| engine.define("sum", sum(&[]), 4).expect("the code is right")).collect();
    for round in 0..3 {
        for function in &functions {
            let n = 100 + round;
            assert_eq!(engine.call(*function, &mut Calls::default(), (n,)), Ok(of(n)));
        }
    }
    let compiled = functions.iter().filter(|function| engine.is_compiled(**function)).count();
    assert!((1..40).contains(&compiled), "{compiled} of 40 fit");
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Between {
    Add { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    JumpLess { a: In<i64>, k: Imm<i64>, to: Label },
    Loop { n: InOut<i64>, to: Label },
    Leave { a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Return { a: In<i64> },
}

template! {
    Between::Add      => (add $a $k)
    Between::JumpLess => (when (lt $a $k) (branch $to))
    Between::Loop!    => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Between::Leave    => (when (zr (and $a 7)) (exit))
    Between::Call     => (invoke $f (arglist $a) i64)
    Between::Return   => (return $a)
}

/// Calls function 0 as often as the argument says.
fn call_often() -> Vec<Between> {
    vec![
        Between::Call { dst: 1.into(), f: Imm(0), a: 0.into() },
        Between::Loop { n: 0.into(), to: Label(0) },
        Between::Return { a: 1.into() },
    ]
}

/// Executes a loop with this many iterations.
fn go_around(times: i64) -> Vec<Between> {
    go_around_behind(0, times)
}

/// Likewise, with some bytecodes before the loop.
fn go_around_behind(before: u32, times: i64) -> Vec<Between> {
    let mut code = vec![Between::Add { dst: 1.into(), a: 1.into(), k: Imm(0) }; before as usize];
    code.extend([
        Between::Add { dst: 1.into(), a: 1.into(), k: Imm(1) },
        Between::JumpLess { a: 1.into(), k: Imm(times), to: Label(before) },
        Between::Return { a: 1.into() },
    ]);
    code
}

#[test]
fn whoever_is_hot_in_a_loop_is_reached_by_calls() {
    // The function tiers up for every mix of calls and iterations, whether the budget ends at a call or in the loop.
    for times in [1, 3, 40, 997, 2500, 100_000] {
        for background in [false, true] {
            let engine: Engine<Between> = Engine::<Between>::builder().background(background).build();
            let around = engine.define("around", go_around(times), 2).expect("it is right");
            let often = engine.define("often", call_often(), 2).expect("it is right");
            let calls = (1_000_000 / times).max(50);
            assert_eq!(engine.call(often, &mut (), (calls,)), Ok(times));
            if background {
                continue;
            }
            let stats = engine.stats();
            assert_eq!(stats.optimizer_for_calls.compiled, 1, "{times}: {stats}");
            assert_eq!(engine.tier(around), Tier::Optimizer, "{times}");
            // Each function tiers up once per tier, and not whenever the budget ends in the middle of a loop.
            assert!(stats.tier_ups <= 6, "{times}: {stats}");
        }
    }
}

#[test]
fn a_short_loop_of_a_function_that_is_called_often_is_not_compiled_alone() {
    for background in [false, true] {
        let engine: Engine<Between> = Engine::<Between>::builder().background(background).build();
        let around = engine.define("around", go_around_behind(1, 700), 2).expect("it is right");
        let often = engine.define("often", call_often(), 2).expect("it is right");
        assert_eq!(engine.call(often, &mut (), (10_000i64,)), Ok(700));
        // The calls come from a loop of the other function, which is compiled alone.
        let stats = engine.stats();
        let compiled = (stats.optimizer.compiled, stats.optimizer_for_calls.compiled);
        match background {
            // The worker may not have come to it.
            true => assert!(compiled.0 <= 1 && compiled.1 <= 1, "{stats}"),
            false => assert_eq!((compiled, engine.tier(around)), ((1, 1), Tier::Optimizer), "{stats}"),
        }
    }
    // Calls from outside are as good.
    let engine: Engine<Between> = Engine::new();
    let around = engine.define("around", go_around_behind(1, 700), 2).expect("it is right");
    (0..40).for_each(|_| assert_eq!(engine.call(around, &mut (), (0i64,)), Ok(700)));
    assert_eq!((engine.stats().optimizer.compiled, engine.tier(around)), (1, Tier::Optimizer));
    // A loop that goes on is compiled, although no call comes.
    let engine: Engine<Between> = Engine::new();
    let around = engine.define("around", go_around_behind(1, 20_000), 2).expect("it is right");
    assert_eq!(engine.call(around, &mut (), (0i64,)), Ok(20_000));
    let stats = engine.stats();
    assert_eq!((stats.optimizer.compiled, stats.optimizer_for_calls.compiled), (1, 0), "{stats}");
}

#[test]
fn more_loops_than_any_limit_leave_calls_in_the_best_tier() {
    // A sequence of many loops, which are left in the middle now and then, so that baseline code enters the next one.
    let mut code = Vec::new();
    for _ in 0..60 {
        let head = code.len() as u32;
        code.push(Between::Add { dst: 2.into(), a: 2.into(), k: Imm(0) });
        code.push(Between::Add { dst: 1.into(), a: 1.into(), k: Imm(1) });
        code.push(Between::Leave { a: 1.into() });
        code.push(Between::JumpLess { a: 1.into(), k: Imm(50), to: Label(head) });
        code.push(Between::Add { dst: 1.into(), a: 2.into(), k: Imm(0) });
    }
    code.push(Between::Return { a: 1.into() });
    let engine: Engine<Between> = Engine::<Between>::builder().thresholds(5, 20).build();
    let many = engine.define("many", code, 3).expect("it is right");
    let often = engine.define("often", call_often(), 2).expect("it is right");
    for _ in 0..3 {
        assert_eq!(engine.call(often, &mut (), (100i64,)), Ok(0));
    }
    assert_eq!(engine.tier(many), Tier::Optimizer);
    assert!(engine.stats().optimizer_for_calls.compiled >= 1, "{}", engine.stats());
}
