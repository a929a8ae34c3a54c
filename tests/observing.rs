//! Slow paths whose calls observe: while they have never run, code keeps VM registers in machine registers, as if nothing observed.

use azulejo::prelude::*;
use azulejo::{Frames, FunctionId, Trap};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    /// A sum, unless the first number is negative: then a function looks at the frames.
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// The same, with a function that looks at nothing.
    AddPlainly {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    JumpIfLess {
        a: In<i64>,
        b: In<i64>,
        to: Label,
    },
    Return {
        a: In<i64>,
    },
}

/// How many registers are alive in the frame that waits.
fn count_slowly(frames: Frames<'_>) -> Result<i64, Trap> {
    Ok(frames.iter().next().map_or(0, |frame| frame.registers().count() as i64))
}

fn zero_slowly() -> Result<i64, Trap> {
    Ok(0)
}

template! {
    Op::Add => unsafe (if (lt $a 0)
        (slow (call throws observes count_slowly (arglist (carg (frames) ptr)) i64))
        (add $a $b))
    Op::AddPlainly => (if (lt $a 0) (slow (call throws zero_slowly (arglist) i64)) (add $a $b))
    Op::JumpIfLess => (when (lt $a $b) (branch $to))
    Op::Return => (return $a)
}

/// Adds each of some registers to the next, again and again, until the first has the second argument's value.
fn sums(add: impl Fn(u32, u32, u32) -> Op) -> Vec<Op> {
    let mut code: Vec<Op> = (3..9).map(|register| add(register, register - 1, register)).collect();
    code.push(add(0, 0, 2));
    code.push(Op::JumpIfLess { a: 0.into(), b: 1.into(), to: Label(0) });
    code.push(Op::Return { a: 8.into() });
    code
}

fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: dst.into(), a: a.into(), b: b.into() }
}

fn add_plainly(dst: u32, a: u32, b: u32) -> Op {
    Op::AddPlainly { dst: dst.into(), a: a.into(), b: b.into() }
}

/// An engine with a function that has run without its slow paths.
fn warm(code: Vec<Op>) -> (Engine<Op>, FunctionId) {
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(2, 4).build();
    let function = engine.define("sums", code, 9).expect("it is valid");
    for _ in 0..50 {
        // Sums of sums: after five rounds the last register is a number of Pascal's triangle.
        assert_eq!(engine.call(function, &mut (), (0i64, 5i64, 1i64)), Ok(210i64));
    }
    (engine, function)
}

#[test]
fn a_slow_path_that_observes_costs_nothing_while_it_has_not_run() {
    if azulejo::can_compile().is_ok() {
        let [observing, plain] = [sums(add), sums(add_plainly)].map(|code| {
            let optimizer = warm(code).0.stats().optimizer;
            assert!(optimizer.compiled > 0);
            optimizer.bytes / optimizer.compiled
        });
        assert!(observing <= plain + plain / 8, "{observing} bytes, and without observing {plain}");
    }
}

#[test]
fn a_slow_path_that_observes_sees_the_registers_when_it_runs() {
    let interpreter: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let cold = interpreter.define("sums", sums(add), 9).expect("it is valid");
    let (engine, function) = warm(sums(add));
    let args = (0i64, -1i64, -1i64);
    let alive: i64 = engine.call(function, &mut (), args).expect("it ends");
    assert!(alive >= 8, "{alive} registers are read later");
    assert_eq!(interpreter.call(cold, &mut (), args), Ok(alive));
}
