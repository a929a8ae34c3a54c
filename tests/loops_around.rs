//! Of loops in loops the optimizer compiles the outermost that comes soon, with all that is in it, and not each alone.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::Statistics;
use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    AddConst { dst: InOut<i64>, value: Imm<i64> },
    Multiply { dst: InOut<i64>, a: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Load => $value
    Op::AddConst => (add $dst $value)
    Op::Multiply => (add (mul $dst 3) $a)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return => (return $a)
}

const SUM: u32 = 0;

/// Loops in each other, the outermost first: how often each runs when it is entered, at least once.
#[derive(Clone, Debug)]
struct Nest {
    times: Vec<i64>,
}

impl Nest {
    fn new(times: &[i64]) -> Nest {
        Nest { times: times.to_vec() }
    }

    fn registers(&self) -> u32 {
        1 + 2 * self.times.len() as u32
    }

    fn counter(level: usize) -> u32 {
        1 + 2 * level as u32
    }

    /// What the loops inside `level` do, and this one, behind the code that is there.
    fn add(&self, level: usize, code: &mut Vec<Op>) {
        let Some(times) = self.times.get(level) else {
            code.push(Op::Multiply { dst: SUM.into(), a: Nest::counter(level - 1).into() });
            return;
        };
        let (counter, limit) = (Nest::counter(level), Nest::counter(level) + 1);
        code.push(Op::Load { dst: counter.into(), value: Imm(0) });
        code.push(Op::Load { dst: limit.into(), value: Imm(*times) });
        let head = code.len() as u32;
        self.add(level + 1, code);
        code.push(Op::AddConst { dst: counter.into(), value: Imm(1) });
        code.push(Op::JumpLess { a: counter.into(), b: limit.into(), to: Label(head) });
    }

    fn code(&self) -> Vec<Op> {
        let mut code = vec![Op::Load { dst: SUM.into(), value: Imm(1) }];
        self.add(0, &mut code);
        code.push(Op::Return { a: SUM.into() });
        code
    }

    fn result(&self) -> i64 {
        fn run(times: &[i64], around: i64, sum: &mut i64) {
            match times {
                [] => *sum = sum.wrapping_mul(3).wrapping_add(around),
                [times, inside @ ..] => (0..*times).for_each(|i| run(inside, i, sum)),
            }
        }
        let mut sum = 1;
        run(&self.times, 0, &mut sum);
        sum
    }

    /// Calls it once, in an engine with these thresholds.
    fn call(&self, builder: azulejo::Builder) -> Statistics {
        let engine: Engine<Op> = builder.build();
        let function = engine.define("nest", self.code(), self.registers()).expect("it is right");
        assert_eq!(engine.call::<_, i64>(function, &mut (), ()), Ok(self.result()), "{self:?}");
        engine.stats()
    }

    fn stats(&self) -> Statistics {
        self.call(Engine::<Op>::builder())
    }
}

#[test]
fn a_loop_around_is_compiled_with_the_one_in_it() {
    let stats = Nest::new(&[1000, 100]).stats();
    assert_eq!(stats.optimizer.compiled, 1, "{stats}");
    // It was left to await a call, then the loop around, and then there.
    assert_eq!(stats.tier_ups, 3, "{stats}");
}

#[test]
fn the_outermost_is_compiled_if_it_comes_soon() {
    let stats = Nest::new(&[300, 30, 30]).stats();
    assert_eq!(stats.optimizer.compiled, 1, "{stats}");
    // Those between are met on the way there.
    assert!((4..=35).contains(&stats.tier_ups), "{stats}");
    // Here it does not: the one in the middle is compiled, and the outermost when that ends.
    let stats = Nest::new(&[30, 10_000, 10]).stats();
    assert_eq!(stats.optimizer.compiled, 2, "{stats}");
    // Meeting the middle one is counted as some iterations.
    assert!((800..1500).contains(&stats.tier_ups), "{stats}");
}

#[test]
fn a_loop_that_does_not_end_soon_is_compiled_alone() {
    let stats = Nest::new(&[2, 1_000_000]).stats();
    // The outer one is, too, when the inner one has ended.
    assert_eq!(stats.optimizer.compiled, 2, "{stats}");
    let stats = Nest::new(&[1, 1_000_000]).stats();
    assert_eq!(stats.optimizer.compiled, 1, "{stats}");
}

#[test]
fn a_loop_is_hot_whose_inner_loops_are_not() {
    let stats = Nest::new(&[100_000, 1]).stats();
    assert_eq!(stats.optimizer.compiled, 1, "{stats}");
    assert!(stats.tier_ups <= 4, "{stats}");
}

#[test]
fn a_budget_is_enough_for_any_nest() {
    let mut random: u64 = 88_172_645_463_325_252;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for _ in 0..400 {
        let depth = 1 + next(4) as usize;
        let mut some_times = || {
            let most = [3, 40, 4000][next(3) as usize];
            1 + next(most) as i64
        };
        let mut nest = Nest { times: (0..depth).map(|_| some_times()).collect() };
        while nest.times.iter().product::<i64>() > 300_000 {
            nest.times.pop();
        }
        let thresholds = [(0, 1), (3, 20), (60, 600), (60, 6000)][next(4) as usize];
        for background in [false, true] {
            let builder = Engine::<Op>::builder().thresholds(thresholds.0, thresholds.1);
            let stats = nest.call(builder.background(background));
            assert!(stats.optimizer.compiled <= nest.times.len() as u64, "{nest:?} {thresholds:?} {stats}");
            // Code is left some times for each loop, and not endlessly on the way to loops around.
            assert!(
                background || stats.tier_ups <= 2000 * nest.times.len() as u64,
                "{nest:?} {thresholds:?} {stats}"
            );
        }
    }
}
