//! Bytecodes that become others: `(quicken …)`.
//!
//! `Add` becomes `AddNumbers` where its operands are numbers, and that becomes `AddAny` where they turn out to be something else. In all
//! tiers a function computes the same as without it, and each tier sees what the others have made of a bytecode.

mod ways;

use azulejo::prelude::*;
use azulejo::{Frames, can_compile};
use azulejo_core::random::Random;
use std::ops::ControlFlow;
use ways::ways;

/// Odd numbers are the language's numbers, times two and one more; even ones are other values, which are added by a function of Rust.
#[derive(Bytecode, Clone, Copy, Debug, PartialEq)]
#[bytecode(context = Counts)]
#[repr(u8)]
enum Op {
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    AddNumbers { dst: Out<u64>, a: In<u64>, b: In<u64> },
    AddAny { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Less { a: In<u64>, b: In<u64>, to: Label },
    LessNumbers { a: In<u64>, b: In<u64>, to: Label },
    Half { dst: Out<u64>, a: In<u64> },
    Triple { dst: Out<u64>, a: In<u64> },
    HalfUntilFive { dst: Out<u64>, a: In<u64> },
    Move { dst: Out<u64>, a: In<u64> },
    Const { dst: Out<u64>, value: Imm<u64> },
    Call { dst: Out<u64>, function: Imm<u32>, a: In<u64>, b: In<u64> },
    Look { dst: Out<u64>, a: In<u64> },
    Looked { dst: Out<u64>, a: In<u64> },
    LookedFirst { dst: Out<u64>, a: In<u64> },
    Return { a: In<u64> },
}

/// What the functions of Rust have seen.
#[derive(Default)]
struct Counts {
    /// How often each opcode of addition ran.
    add: u64,
    numbers: u64,
    any: u64,
    /// The registers that were alive in a frame when it was looked at.
    seen: Vec<Vec<u32>>,
}

fn count_add(counts: &mut Counts) {
    counts.add += 1;
}

fn count_numbers(counts: &mut Counts) {
    counts.numbers += 1;
}

fn sum_of_any(a: u64, b: u64) -> u64 {
    a.wrapping_mul(3).wrapping_add(b) & !1
}

fn add_any(counts: &mut Counts, a: u64, b: u64) -> u64 {
    counts.any += 1;
    sum_of_any(a, b)
}

fn triple(a: u64) -> u64 {
    3 * a + 1
}

fn half(a: u64) -> u64 {
    a / 2
}

fn look(counts: &mut Counts, frames: Frames<'_>) {
    let frame = frames.iter().next().expect("somebody calls");
    counts.seen.push(frame.registers().map(|(register, _)| register).collect());
}

template! {
    macro ^are_numbers () (nz (and (and $a $b) 1))
    macro ^sum () (sub (add $a $b) 1)
    macro ^add_any () (call leaf add_any (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)

    Op::Add! => unsafe (dov
        (callv leaf count_add (arglist (carg (tc) ptr)))
        (ifv (^are_numbers)
            (dov (quicken Op::AddNumbers) (set $dst (^sum)))
            (dov (quicken Op::AddAny) (set $dst (^add_any)))))
    Op::AddNumbers! => unsafe (dov
        (ifv (^are_numbers)
            (dov (set $dst (^sum)) (callv leaf count_numbers (arglist (carg (tc) ptr))))
            (slowv (dov (quicken Op::AddAny) (set $dst (^add_any))))))
    Op::AddAny => unsafe (if (^are_numbers) (^sum) (^add_any))
    Op::Less => (dov (when (^are_numbers) (quicken Op::LessNumbers)) (when (ult $a $b) (branch $to)))
    Op::LessNumbers => (when (ult $a $b) (branch $to))
    Op::Half => unsafe (if (zr (and $a 1)) (shr $a 1)
        (slow (do (quicken Op::Triple) (call leaf triple (arglist (carg $a u64)) u64))))
    // It becomes another one off its slow path, which has run by then.
    Op::HalfUntilFive => unsafe (if (zr (and $a 1)) (shr $a 1)
        (if (eq $a 5) (do (quicken Op::Triple) (add (mul $a 3) 1))
            (slow (call leaf triple (arglist (carg $a u64)) u64))))
    Op::Triple => unsafe (if (nz (and $a 1)) (add (mul $a 3) 1) (slow (call leaf half (arglist (carg $a u64)) u64)))
    Op::Move => (copy $a)
    Op::Const => (copy $value)
    Op::Call => (invoke (ucast $function u32) (arglist $a $b) u64)
    // Its frame is looked at behind the change, too.
    Op::Look! => unsafe (dov
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
        (ifv (zr (and $a 1)) (quicken Op::Looked) (quicken Op::LookedFirst))
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
        (set $dst $a))
    Op::Looked! => unsafe (dov
        (set $dst $a)
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr))))
    Op::LookedFirst! => unsafe (dov
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
        (set $dst $a))
    Op::Return => (return $a)
}

fn number(of: u64) -> u64 {
    of * 2 + 1
}

/// Adds its arguments a hundred times: the first is the sum so far.
fn sum() -> Code<Op> {
    Code::from(vec![
        Op::Const { dst: 2.into(), value: number(0).into() },
        Op::Const { dst: 3.into(), value: number(1).into() },
        Op::Const { dst: 4.into(), value: number(100).into() },
        Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 3.into() },
        Op::Less { a: 2.into(), b: 4.into(), to: 3.into() },
        Op::Return { a: 0.into() },
    ])
}

#[test]
fn interpreters_run_what_a_bytecode_has_become() {
    for (way, build) in ways().into_iter().take(2) {
        let (engine, mut counts) = (build().build::<Op>(), Counts::default());
        let sum = engine.define("sum", sum(), 5).expect("it is right");
        let result: u64 = engine.call(sum, &mut counts, (number(7), number(2))).expect("it returns");
        assert_eq!(result, number(207), "{way}");
        assert_eq!((counts.add, counts.numbers, counts.any), (2, 198, 0), "{way}");
        // One of the two is not about numbers any more.
        let mut expected = 8;
        (0..100).for_each(|_| expected = sum_of_any(expected, number(2)));
        let result: u64 = engine.call(sum, &mut counts, (8u64, number(2))).expect("it returns");
        assert_eq!(result, expected, "{way}");
        assert_eq!((counts.add, counts.numbers, counts.any), (2, 298, 100), "{way}");
        let result: u64 = engine.call(sum, &mut counts, (number(7), number(2))).expect("it returns");
        assert_eq!((result, counts.numbers), (number(207), 398), "{way}: it adds numbers, too");
    }
}

#[test]
fn compiled_code_is_of_what_bytecodes_have_become() {
    if can_compile().is_err() {
        return;
    }
    for tier in [Tier::Baseline, Tier::Optimizer] {
        let engine = Engine::<Op>::builder().up_to(tier).thresholds(1000, 1000).build();
        let mut counts = Counts::default();
        let sum = engine.define("sum", sum(), 5).expect("it is right");
        let call = |counts: &mut Counts| engine.call::<_, u64>(sum, counts, (number(0), number(1)));
        assert_eq!(call(&mut counts), Ok(number(100)));
        assert_eq!(engine.compile_all(&[sum], tier, |_| ControlFlow::Continue(())), 1);
        for _ in 0..10 {
            assert_eq!(call(&mut counts), Ok(number(100)));
        }
        assert_eq!((counts.add, counts.numbers), (2, 198 + 2000), "{tier:?}");
    }
}

#[test]
fn compiled_code_makes_bytecodes_others() {
    if can_compile().is_err() {
        return;
    }
    for tier in [Tier::Baseline, Tier::Optimizer] {
        // It is compiled before it runs, and once more afterwards.
        let engine = Engine::<Op>::builder().only(tier).build();
        let mut counts = Counts::default();
        let sum = engine.define("sum", sum(), 5).expect("it is right");
        let call = |counts: &mut Counts| engine.call::<_, u64>(sum, counts, (number(0), number(1)));
        assert_eq!(call(&mut counts), Ok(number(100)));
        assert_eq!((counts.add, counts.numbers), (200, 0), "{tier:?}: code stays what it is");
        engine.discard(sum).expect("it exists");
        assert_eq!(call(&mut counts), Ok(number(100)));
        assert_eq!((counts.add, counts.numbers), (200, 200), "{tier:?}");
    }
}

/// The optimizer leaves out a slow path that has not run since the bytecode is what it is, whichever code made it that.
#[test]
fn the_slow_path_of_what_a_bytecode_has_become_has_not_run() {
    if can_compile().is_err() {
        return;
    }
    let half = Op::Half { dst: 0.into(), a: 0.into() };
    let until_five = Op::HalfUntilFive { dst: 0.into(), a: 0.into() };
    // Baseline code that was made before stays what it is, and notes the slow path of what it is.
    let ways = [
        (true, 500, half),
        (true, 500, until_five),
        (false, 500, half),
        (false, 500, until_five),
        (false, 1, half),
    ];
    for (is_rust, to_baseline, start) in ways {
        let code = vec![start, Op::Return { a: 0.into() }];
        let engine = Engine::<Op>::builder().rust_interpreter(is_rust).thresholds(to_baseline, 1000).build();
        let mut counts = Counts::default();
        let step = engine.define("step", code.clone(), 1).expect("it is right");
        let mut call = |a: u64| engine.call::<_, u64>(step, &mut counts, (a,));
        (0..10).for_each(|a| assert_eq!(call(2 * a), Ok(a)));
        (0..5000).for_each(|a| assert_eq!(call(2 * a + 1), Ok(6 * a + 4)));
        assert_eq!((engine.stats().in_optimizer, engine.stats().missed), (1, 0));
        assert_eq!(call(8), Ok(4));
        assert_eq!(
            engine.stats().missed,
            1,
            "in Rust: {is_rust}, baseline code after {to_baseline}, {start:?}"
        );
        assert_eq!(call(9), Ok(28));
    }
}

#[test]
fn what_becomes_more_general_misses_nothing() {
    if can_compile().is_err() {
        return;
    }
    let engine = Engine::<Op>::builder().thresholds(5, 200).build();
    let mut counts = Counts::default();
    let sum = engine.define("sum", sum(), 5).expect("it is right");
    for round in 0..200 {
        let first = if round % 3 == 2 { 6 } else { number(round) };
        let result: u64 = engine.call(sum, &mut counts, (first, number(1))).expect("it returns");
        let mut expected = first;
        for _ in 0..100 {
            expected = if expected & 1 == 1 { expected + 2 } else { sum_of_any(expected, number(1)) };
        }
        assert_eq!(result, expected, "{round}");
    }
    let statistics = engine.stats();
    assert!(statistics.missed == 0 && statistics.in_optimizer == 1, "{statistics:?}");
}

#[test]
fn frames_show_what_is_alive_though_the_bytecode_has_changed_meanwhile() {
    // Its input is alive behind the calls of the first opcode. One of the others has read it, and written its output.
    let code = vec![Op::Look { dst: 1.into(), a: 0.into() }, Op::Return { a: 1.into() }];
    for ((way, build), given) in ways().into_iter().flat_map(|way| [(way, 8u64), (way, 9)]) {
        let (engine, mut counts) = (build().build::<Op>(), Counts::default());
        let function = engine.define("look", code.clone(), 3).expect("it is right");
        let of_look = [vec![0], vec![0]];
        let of_others = if given == 8 { [vec![1]] } else { [vec![0]] };
        for round in 0..8 {
            let result = engine.call::<_, u64>(function, &mut counts, (given,));
            assert_eq!(result, Ok(given), "{way}, {round}");
            let seen = std::mem::take(&mut counts.seen);
            // Interpreters run what the bytecode has become; code that is compiled may be older.
            let is_interpreted = ["in Rust", "interpreted in code"].contains(&way);
            let is_old = round == 0 || !is_interpreted && seen.len() == 2;
            let expected: &[Vec<u32>] = if is_old { &of_look } else { &of_others };
            assert_eq!(seen, expected, "{way}, {given}, {round}");
        }
    }
}

/// A random function, which calls those before it. Its registers are four of its own, and three for its loop.
fn random_function(random: &mut Random, functions: usize) -> Vec<Op> {
    let mut ops = vec![
        Op::Const { dst: 4.into(), value: number(0).into() },
        Op::Const { dst: 5.into(), value: number(1).into() },
        Op::Const { dst: 6.into(), value: number(2 + random.below(6) as u64).into() },
    ];
    let start = ops.len() as u32;
    for _ in 0..2 + random.below(6) {
        let (dst, a, b) = (random.below(4) as u32, random.below(7) as u32, random.below(7) as u32);
        let op = match random.below(6) {
            0 => Op::Move { dst: dst.into(), a: a.into() },
            1 if functions > 0 => {
                let function = random.below(functions) as u32;
                Op::Call { dst: dst.into(), function: function.into(), a: a.into(), b: b.into() }
            }
            2 => Op::Const { dst: dst.into(), value: (random.number() >> 40).into() },
            3 => {
                let to = ops.len() as u32 + 2;
                ops.push(Op::Less { a: a.into(), b: b.into(), to: to.into() });
                Op::Add { dst: dst.into(), a: b.into(), b: a.into() }
            }
            _ => Op::Add { dst: dst.into(), a: a.into(), b: b.into() },
        };
        ops.push(op);
    }
    ops.push(Op::Add { dst: 4.into(), a: 4.into(), b: 5.into() });
    ops.push(Op::Less { a: 4.into(), b: 6.into(), to: start.into() });
    ops.push(Op::Return { a: (random.below(4) as u32).into() });
    ops
}

/// What a function gives.
fn meaning(functions: &[Vec<Op>], function: usize, a: u64, b: u64) -> u64 {
    let (mut registers, mut at) = ([0; 7], 0);
    registers[..2].copy_from_slice(&[a, b]);
    loop {
        let of = |register: In<u64>| registers[register.index as usize];
        let (dst, value) = match functions[function][at] {
            Op::Add { dst, a, b } => match of(a) & of(b) & 1 {
                1 => (dst, of(a).wrapping_add(of(b)).wrapping_sub(1)),
                _ => (dst, sum_of_any(of(a), of(b))),
            },
            Op::Less { a, b, to } => {
                at = if of(a) < of(b) { to.0 as usize } else { at + 1 };
                continue;
            }
            Op::Move { dst, a } => (dst, of(a)),
            Op::Const { dst, value } => (dst, value.0),
            Op::Call { dst, function, a, b } => (dst, meaning(functions, function.0 as usize, of(a), of(b))),
            Op::Return { a } => return of(a),
            op => unreachable!("{op:?} is not in a program that nobody has run"),
        };
        registers[dst.index as usize] = value;
        at += 1;
    }
}

#[test]
fn random_programs_have_their_results_in_all_tiers() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut functions = Vec::new();
        for _ in 0..1 + random.below(3) {
            functions.push(random_function(&mut random, functions.len()));
        }
        let argument = |random: &mut Random| match random.below(3) {
            0 => random.number() & !1,
            _ => number(random.number() >> 2),
        };
        let rounds: Vec<[u64; 2]> = (0..12).map(|_| [argument(&mut random), argument(&mut random)]).collect();
        for (way, build) in ways() {
            let (engine, mut counts) = (build().build::<Op>(), Counts::default());
            let mut last = None;
            for (at, code) in functions.iter().enumerate() {
                last = Some(engine.define(format!("f{at}"), code.clone(), 7).expect("it is right"));
            }
            let function = last.expect("there is one");
            for (round, &[a, b]) in rounds.iter().enumerate() {
                let expected = meaning(&functions, functions.len() - 1, a, b);
                let result = engine.call::<_, u64>(function, &mut counts, (a, b));
                assert_eq!(result, Ok(expected), "seed {seed}, {way}, round {round}: {functions:#?}");
            }
        }
    }
}
