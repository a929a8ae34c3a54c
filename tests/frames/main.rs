//! Frames that Rust functions see: a moving collector of garbage in every tier.

mod machine;
mod programs;
mod shown;
#[path = "../ways/mod.rs"]
mod ways;
mod whole;

use azulejo::prelude::*;
use azulejo::{Builder, Resumed, can_compile, can_switch};
use azulejo_core::random::Random;
use machine::{Op, Vm, is_pair, number};
use programs::{End, Meaning, Program, REGISTERS, Value};
use std::rc::Rc;
use ways::{Way, ways};

/// Those in which frames are only looked at.
fn ways_that_only_read() -> Vec<Way> {
    match can_compile() {
        Err(_) => Vec::new(),
        Ok(()) => vec![
            ("optimizer", || Builder::default().only(Tier::Optimizer).registers_only_read(true)),
            ("climbing", || Builder::default().thresholds(1, 3).registers_only_read(true)),
            ("climbing, not inlined", || {
                Builder::default().thresholds(1, 2).inlining(false).registers_only_read(true)
            }),
        ],
    }
}

/// An engine with a program's functions, and its context.
fn load(program: &Program, builder: Builder, moves: bool) -> (Box<Engine<Op>>, Vm, FunctionId) {
    let engine: Box<Engine<Op>> = Box::new(builder.build());
    let mut vm = Vm::new(&engine, moves);
    for (at, code) in program.functions.iter().enumerate() {
        let code = Code::from(code.clone()).with_temporaries(REGISTERS - 1);
        let function = engine.define(format!("f{at}"), code, REGISTERS).expect("it is right");
        vm.functions.push(function);
    }
    let last = *vm.functions.last().expect("there is one");
    (engine, vm, last)
}

/// A value of the machine as a tree. Pairs that are far down are left out.
fn tree(vm: &Vm, value: u64, depth: usize) -> Value {
    match is_pair(value) {
        true if depth > 0 => {
            let [first, second] = vm.words(value);
            Value::Pair(Rc::new((tree(vm, first, depth - 1), tree(vm, second, depth - 1))))
        }
        true => Value::Pair(Rc::new((Value::Word(0), Value::Word(0)))),
        false => Value::Word(value),
    }
}

/// Runs a function on a fiber to its end, and collects whenever it is suspended.
fn on_fiber(engine: &Engine<Op>, vm: &mut Vm, function: FunctionId, args: [u64; 2]) -> Result<u64, Error> {
    let mut fiber = engine.fiber(function, (args[0], args[1]))?;
    let mut told = [0];
    loop {
        match fiber.resume(vm, told[0])? {
            Resumed::Returned(value) => return Ok(value),
            Resumed::Suspended(value) => told = [value],
        }
        vm.collect(&fiber.frames(), &mut told);
    }
}

const DEPTH: usize = 6;

/// Runs a random program in all tiers. Returns how many roots there were, unless the program is of no use.
fn check(seed: u64) -> Option<usize> {
    let mut random = Random::new(seed);
    let is_fiber = can_switch() && random.one_in(3);
    let program = Program::random(&mut random, is_fiber);
    let args = [number(seed as i64 % 7), number(3)];
    let meaning = Meaning::of(&program, args, is_fiber);
    if meaning.as_ref().is_err_and(|end| *end == End::TooLong) {
        return None;
    }
    let expected = meaning.map(|value| value.text(DEPTH));
    let mut roots = 0;
    let (moving, keeping) = (ways().into_iter(), ways_that_only_read().into_iter());
    for ((way, builder), moves) in
        moving.zip(std::iter::repeat(true)).chain(keeping.zip(std::iter::repeat(false)))
    {
        let (engine, mut vm, function) = load(&program, builder(), moves);
        for round in 0..6 {
            let result = match is_fiber {
                true => on_fiber(&engine, &mut vm, function, args),
                false => engine.call(function, &mut vm, (args[0], args[1])),
            };
            if vm.is_full {
                return None;
            }
            let result =
                result.map(|value: u64| tree(&vm, value, DEPTH + 1).text(DEPTH)).map_err(|_| End::Failed);
            assert_eq!(result, expected, "seed {seed}, {way}, moves: {moves}, round {round}: {program:#?}");
            roots += vm.roots;
        }
    }
    Some(roots)
}

#[test]
fn a_collector_finds_all_values_and_nothing_else_whether_it_moves_them_or_not() {
    let seeds = std::env::var("FRAMES_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    let first = std::env::var("FRAMES_FIRST").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let found: Vec<usize> = (first..first + seeds).filter_map(check).collect();
    assert!(found.len() as u64 > seeds / 2, "only {} programs were of use", found.len());
    assert!(found.iter().sum::<usize>() as u64 > 1000 * seeds, "{found:?}");
}
