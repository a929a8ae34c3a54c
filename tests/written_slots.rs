//! Registers that a template has written in their slots, by an address, before it jumps: whoever reads them afterwards sees that, in every
//! tier.

use azulejo::prelude::*;
use azulejo::{Code, Labels, RegsMut};

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    /// Adds to each register of a run, and jumps as long as the first is small.
    AddToRun {
        run: RegsMut,
        n: In<i64>,
        to: Label,
    },
    /// Likewise, when a function has looked at all registers.
    AddToSeenRun {
        run: RegsMut,
        n: In<i64>,
        to: Label,
    },
    AddAndSwitch {
        run: RegsMut,
        n: In<i64>,
        to: Labels,
    },
    AddToPlace {
        sum: InOut<i64>,
        n: In<i64>,
        to: Label,
    },
    AddToFrame {
        n: In<i64>,
        to: Label,
    },
    Return {
        a: In<i64>,
    },
}

fn add_to(registers: &mut [i64], n: i64) {
    registers.iter_mut().for_each(|register| *register += n);
}

unsafe fn add_to_run(first: *mut i64, count: u64, n: i64) {
    // SAFETY: the template passes a run of registers.
    add_to(unsafe { std::slice::from_raw_parts_mut(first, count as usize) }, n);
}

fn add(sum: &mut i64, n: i64) {
    *sum += n;
}

fn look() {}

template! {
    macro ^add () (callv add_to_run (arglist (carg (window $run) ptr) (carg (length $run) u64) (carg $n i64)))
    macro ^first () (load (window $run) i64)

    Op::AddToRun => unsafe (dov (^add) (when (lt (^first) 20) (branch $to)))
    Op::AddToSeenRun => unsafe (dov (callv observes look (arglist)) (^add) (when (lt (^first) 20) (branch $to)))
    Op::AddAndSwitch => unsafe (dov (^add) (switch (flagval (lt (^first) 20) u64) $to))
    Op::AddToPlace! => (let: (($n $n)) (dov
        (callv add (arglist (carg (place $sum) ptr) (carg $n i64)))
        (when (lt $sum 20) (branch $to))))
    Op::AddToFrame => unsafe (let: (($sum (add (load (local) i64) $n)))
        (dov (store (local) $sum i64) (when (lt $sum 20) (branch $to))))
    Op::Return => (return $a)
}

/// The run has registers 0 and 1; each loop adds 3 until register 0 is 20 or more.
fn loops() -> Vec<(Op, Vec<u32>)> {
    let (run, n, to) = (RegsMut { first: 0, count: 2 }, 2.into(), Label(0));
    vec![
        (Op::AddToRun { run, n, to }, Vec::new()),
        (Op::AddToSeenRun { run, n, to }, Vec::new()),
        (Op::AddAndSwitch { run, n, to: Labels { first: 0, count: 2 } }, vec![1, 0]),
        (Op::AddToPlace { sum: 0.into(), n, to }, Vec::new()),
        (Op::AddToFrame { n, to }, Vec::new()),
    ]
}

#[test]
fn a_jump_behind_a_write_sees_it() {
    for (op, labels) in loops() {
        for tier in TIERS {
            // Who does not see the write goes round for ever.
            let engine: Engine<Op> = Engine::<Op>::builder().only(tier).fuel(1000).build();
            let code = Code { labels: labels.clone(), ..vec![op, Op::Return { a: 0.into() }].into() };
            let function = engine.define("loop", code, 3).expect("it is right");
            for start in [0i64, 1, 19, 30] {
                let steps = ((20 - start + 2) / 3).max(1);
                let result = engine.call::<_, i64>(function, &mut (), (start, 5i64, 3i64));
                assert_eq!(result, Ok(start + 3 * steps), "{op:?} from {start} in the {tier:?}");
            }
        }
    }
}
