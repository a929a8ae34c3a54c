//! What takes long to compile must have run for long, unless the program says after how many calls and iterations it is compiled.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    AddConst { dst: InOut<i64>, value: Imm<i64> },
    Mix { dst: InOut<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    // A template of many steps.
    macro ^mix (,x) (xor (mul ,x 3) (shr (add ,x 5) 7))
    macro ^mix4 (,x) (let: (($a (^mix ,x)) ($b (^mix $a)) ($c (^mix $b))) (^mix $c))
    Op::Mix => (let: (($a (^mix4 $dst)) ($b (^mix4 $a))) (^mix4 $b))
    Op::AddConst => (add $dst $value)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return => (return $a)
}

/// Counts to the argument in a loop, and then mixes another register as often as `behind` says.
fn counting(behind: usize) -> Vec<Op> {
    let add = Op::AddConst { dst: 1.into(), value: Imm(1) };
    let mut code = vec![add, Op::JumpLess { a: 1.into(), b: 0.into(), to: Label(0) }];
    code.resize(2 + behind, Op::Mix { dst: 2.into() });
    code.push(Op::Return { a: 1.into() });
    code
}

/// Whether the optimizer compiles such a function that is called once, and iterates so often.
fn is_optimized(builder: azulejo::Builder, behind: usize, iterations: i64) -> bool {
    let engine: Engine<Op> = builder.build();
    let function = engine.define("counting", counting(behind), 3).expect("it is right");
    let result = engine.call::<_, i64>(function, &mut (), (iterations,));
    assert_eq!(result, Ok(iterations));
    engine.stats().optimizer.compiled > 0
}

#[test]
fn a_large_function_must_have_run_for_longer() {
    let builder = Engine::<Op>::builder;
    assert!(is_optimized(builder(), 0, 20_000));
    assert!(!is_optimized(builder(), 200, 20_000));
    assert!(is_optimized(builder(), 200, 300_000));
}

#[test]
fn what_the_program_says_does_not_depend_on_the_size() {
    let builder = || Engine::<Op>::builder().thresholds(60, 6000);
    assert!(is_optimized(builder(), 0, 20_000));
    assert!(is_optimized(builder(), 200, 20_000));
}

#[test]
fn a_large_function_that_is_called_again_and_again_is_optimized() {
    let engine: Engine<Op> = Engine::<Op>::builder().build();
    let function = engine.define("counting", counting(200), 3).expect("it is right");
    for _ in 0..80_000 {
        assert_eq!(engine.call::<_, i64>(function, &mut (), (3,)), Ok(3));
    }
    assert_eq!(engine.tier(function), Tier::Optimizer);
}

/// The tier of a function that mixes a few numbers and has looped so often.
fn tier_after(engine: &Engine<Op>, iterations: i64) -> Tier {
    let function = engine.define("counting", counting(3), 3).expect("it is right");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (iterations,)), Ok(iterations));
    engine.tier(function)
}

#[test]
fn a_function_whose_stencils_are_to_be_made_must_have_run_for_longer() {
    let engine: Engine<Op> = Engine::<Op>::builder().build();
    assert_eq!(tier_after(&engine, 100), Tier::Interpreter);
    assert_eq!(tier_after(&engine, 3000), Tier::Baseline);
    // Now there are stencils.
    assert_eq!(tier_after(&engine, 100), Tier::Baseline);
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(60, 6000).build();
    assert_eq!(tier_after(&engine, 100), Tier::Baseline);
}
