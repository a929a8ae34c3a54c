//! Random functions that call each other: the same in every tier, with and without inlining.

use crate::machine::{Op, Way, can_compile, r};
use azulejo::prelude::*;
use azulejo::{Label, Labels, Regs};

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % n as u64) as u32
    }

    fn register<T: From<u32>>(&mut self) -> T {
        // The last two count.
        r(self.below(REGISTERS - 2))
    }
}

const REGISTERS: u32 = 7;

/// A function of at most two arguments, which calls functions with lower numbers, or itself if it has counted down.
fn function(random: &mut Random, number: u32) -> (Code<Op>, u32) {
    let n = 2 + random.below(9);
    let mut code = vec![Op::Const { dst: r(REGISTERS - 2), k: Imm(2 + random.below(3) as i64) }];
    let mut labels = Vec::new();
    for at in 1..=n {
        let (dst, a, b) = (random.register(), random.register(), random.register());
        // Control only goes on, but where it is counted.
        let on = |random: &mut Random| at + 1 + random.below(n + 1 - at);
        let callee = Imm(random.below(number.max(1)));
        let is_called = number > 0;
        code.push(match random.below(24) {
            0 => Op::Const { dst, k: Imm(random.below(2100) as i64 - 50) },
            1 => Op::AddK { dst, a, k: Imm(random.below(5) as i64 - 2) },
            2 => Op::Mul { dst, a, b },
            3 if random.below(3) == 0 => Op::Divide { dst, a, b },
            4 => Op::AddSmall { dst, a, b },
            5 => Op::Leave { a: random.register() },
            6 => Op::LeaveBehind { a: random.register() },
            7 if random.below(4) == 0 => Op::Refuse { a },
            8 => Op::Less { a, b, to: Label(on(random)) },
            9 if at > 2 && random.below(2) == 0 => {
                Op::CountDown { n: r(REGISTERS - 2), to: Label(1 + random.below(at - 1)) }
            }
            10 => {
                let to = Labels { first: labels.len() as u32, count: 2 };
                labels.extend([on(random), on(random)]);
                Op::Choose { a, to }
            }
            11..=14 if is_called => Op::CallTwo { dst, f: callee, a, b },
            15 if is_called => {
                Op::Call { dst, f: callee, args: Regs { first: random.below(3), count: random.below(3) } }
            }
            16 if is_called => Op::CallUnless { dst: random.register(), f: callee, a },
            17 if is_called => Op::CallForNothing { f: callee, a },
            18 if is_called => Op::CallNarrow { dst: random.register(), f: callee, a },
            19 if is_called => Op::CallAndAdd { dst, f: callee, a },
            20 | 21 if is_called => Op::TailIfLarge { f: callee, a },
            _ => Op::Add { dst, a, b },
        });
    }
    let last = random.register();
    code.push(match random.below(4) {
        0 if number > 0 => Op::TailTwo { f: Imm(random.below(number)), a: last, b: random.register() },
        1 if number > 0 => Op::Tail {
            f: Imm(random.below(number)),
            args: Regs { first: random.below(3), count: random.below(3) },
        },
        _ => Op::Return { a: last },
    });
    let mut code = Code { labels, ..code.into() };
    if random.below(2) == 0 {
        code = code.with_arguments(2);
    }
    if random.below(3) == 0 {
        code = code.with_missing(5);
    }
    (code, REGISTERS)
}

/// Calls the last of some functions with a few arguments. Says what came of it, how much fuel was left each time if no code was left in
/// the middle, and how many calls were inlined.
fn outcomes(builder: azulejo::Builder, seed: u64) -> (Vec<String>, Option<Vec<Option<u64>>>, u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let engine: Engine<Op> = builder.build();
    let functions: Vec<FunctionId> = (0..5)
        .map(|number| {
            let (code, registers) = function(&mut random, number);
            engine.define(format!("f{number}"), code, registers).expect("the code is right")
        })
        .collect();
    let (mut outcomes, mut fuel) = (Vec::new(), Vec::new());
    for round in 0..14 {
        let mut vm = crate::Vm::default();
        let args = [(3i64, 4i64), (1, -1), (1001, 2), (0, 0)][round % 4];
        let result = engine.call::<_, i64>(functions[4], &mut vm, args);
        let trace = if result.is_err() { engine.backtrace().frames } else { Vec::new() };
        outcomes.push(format!("{result:?} {trace:?} {:?}", vm.slow));
        fuel.push(engine.fuel());
    }
    let stats = engine.stats();
    let was_left = stats.missed > 0 || !stats.exits.is_empty();
    (outcomes, (!was_left).then_some(fuel), stats.inlined)
}

#[test]
fn random_functions_agree() {
    let n: u64 = 150;
    let mut inlined = 0;
    for seed in 1..=n {
        // So much is never used up: code that loops spends a little more than the interpreter, which goes on where code is left.
        let fuel = |builder: azulejo::Builder| if seed % 3 == 0 { builder.fuel(1 << 30) } else { builder };
        let builder = |way: Way| fuel(way.builder().backtraces(seed % 2 == 0));
        let (expected, ..) = outcomes(builder(Way::Rust), seed);
        let [mut with, mut without] = [None, None];
        for way in Way::ALL {
            let (found, fuel, count) = outcomes(builder(way), seed);
            assert_eq!(found, expected, "{way:?}, seed {seed}");
            inlined += count;
            match way {
                Way::Optimizer => with = fuel,
                Way::WithoutInlining => without = fuel,
                _ => {}
            }
        }
        if let (Some(with), Some(without)) = (with, without) {
            assert_eq!(with, without, "fuel, seed {seed}");
        }
    }
    assert!(inlined > n || !can_compile(), "{inlined} calls were inlined");
}
