//! Unbounded recursion through functions with frames of any size.
//!
//! In: random numbers, which decide how large frames are and why, which function calls which, and the tiers. Out: nothing,
//! or how far the machine's stack was used beyond the engine's limit. A frame that does not fit is not made, so no function
//! is called far below the limit.

use azulejo::prelude::*;
use azulejo_core::random::Random;
use std::rc::Rc;

/// The stack that is used below the limit: by an interpreter, and the functions that it calls.
const MARGIN: usize = 4 << 10;

/// The context of the functions.
struct Nest {
    engine: Rc<Engine<Op>>,
    functions: Vec<FunctionId>,
    calls: usize,
    /// The lowest address at which a function was called.
    lowest: usize,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Nest)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddFour { dst: InOut<i64>, a: In<i64>, b: In<i64>, c: In<i64>, d: In<i64> },
    Look { run: Regs },
    Invoke { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    CallEngine { dst: Out<i64>, a: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Add        => (add $a $b)
    Op::AddFour    => (add $dst (add (add $a $b) (add $c $d)))
    Op::Look       => (callv look (arglist (carg (tc) ptr) (carg (window $run) ptr)))
    Op::Invoke     => (invoke $f (arglist $a) i64)
    Op::CallEngine => (call call_engine (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Return     => (return $a)
}

fn look(nest: &mut Nest, _: *const u64) {
    let here = 0u8;
    nest.lowest = nest.lowest.min((&raw const here).addr());
}

/// An error of the inner call does not make the outer call fail.
fn call_engine(nest: &mut Nest, a: i64) -> i64 {
    let engine = Rc::clone(&nest.engine);
    nest.calls += 1;
    let function = nest.functions[nest.calls % nest.functions.len()];
    let result = match nest.calls % 3 {
        0 => engine.call(function, nest, (a,)),
        _ => engine.call_back(function, nest, (a,)),
    };
    result.unwrap_or(-1)
}

/// The reasons for large frames.
#[derive(Clone, Copy)]
struct Shape {
    /// How many registers are observed at most.
    seen: usize,
    /// How many values are live across a call: a bound on their number, and the least number.
    values: usize,
    at_least: usize,
    /// How many functions call each other.
    functions: usize,
}

const SHAPES: [Shape; 5] = [
    Shape { seen: 40, values: 40, at_least: 0, functions: 3 },
    Shape { seen: 4000, values: 4, at_least: 0, functions: 1 },
    Shape { seen: 4000, values: 4, at_least: 0, functions: 2 },
    Shape { seen: 4000, values: 40, at_least: 0, functions: 3 },
    Shape { seen: 1, values: 400, at_least: 900, functions: 1 },
];

/// A function that calls a random one of the nest's functions, or has the engine call one.
fn nesting(random: &mut Random, shape: Shape, asks_engine: bool) -> (Vec<Op>, u32) {
    let (seen, values) =
        (random.below(shape.seen) as u32, (shape.at_least + random.below(shape.values)) as u32);
    let value = |at: u32| 2 + at;
    let mut code: Vec<Op> = Vec::new();
    for at in 0..values {
        let before = if at == 0 { 0 } else { value(at - 1) };
        code.push(Op::Add { dst: value(at).into(), a: before.into(), b: 0.into() });
    }
    code.push(Op::Look { run: Regs { first: 0, count: seen } });
    code.push(match asks_engine {
        true => Op::CallEngine { dst: 1.into(), a: 0.into() },
        false => Op::Invoke { dst: 1.into(), f: Imm(1 + random.below(shape.functions) as u32), a: 0.into() },
    });
    for at in (0..values).step_by(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|next| value((at + next).min(values - 1)).into());
        code.push(Op::AddFour { dst: 1.into(), a, b, c, d });
    }
    code.push(Op::Return { a: 1.into() });
    (code, seen.max(values + 2))
}

/// Checks that unbounded recursion uses no more of the machine's stack than the engine's limit allows.
pub fn of_depth(random: &mut Random) -> Result<(), String> {
    let limit = (64 << 10) + random.below(128 << 10);
    let builder = Engine::<Op>::builder().native_stack(limit).thresholds(random.below(3) as u32, 4);
    let engine = match random.below(4) {
        0 => builder,
        1 => builder.only(Tier::Baseline),
        _ => builder.only(Tier::Optimizer),
    };
    let engine = Rc::new(engine.build());
    let failed = |error: Error| error.to_string();
    let leaf = vec![Op::Look { run: Regs { first: 0, count: 1 } }, Op::Return { a: 0.into() }];
    let leaf = engine.define("leaf", leaf, 1).map_err(failed)?;
    let mut functions = Vec::new();
    let shape = SHAPES[random.below(SHAPES.len())];
    let asks_engine = [Some(true), Some(false), None][random.below(3)];
    for _ in 0..shape.functions {
        let asks_engine = asks_engine.unwrap_or_else(|| random.one_in(2));
        let (code, registers) = nesting(random, shape, asks_engine);
        functions.push(engine.define("nesting", code, registers).map_err(failed)?);
    }
    let first = functions[0];
    let mut nest = Nest { engine, functions, calls: 0, lowest: usize::MAX };
    // Calling a function that needs no frame shows the address from which the limit counts.
    run(&mut nest, leaf).map_err(failed)?;
    let lowest = nest.lowest - limit - MARGIN;
    let result = run(&mut nest, first);
    match nest.lowest {
        seen if seen < lowest => Err(format!(
            "{} bytes below the limit, {limit}, a function is called: {result:?}",
            lowest + MARGIN - seen
        )),
        _ if !matches!(result, Ok(_) | Err(Error::StackOverflow)) => Err(format!("{result:?}")),
        _ => Ok(()),
    }
}

#[inline(never)]
fn run(nest: &mut Nest, function: FunctionId) -> Result<i64, Error> {
    let engine = Rc::clone(&nest.engine);
    engine.call(function, nest, (1i64,))
}
