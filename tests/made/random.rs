//! Random programs of the machine.

use crate::machine::Op;
use azulejo::__private::core::fuzzing::Random;
use azulejo::prelude::*;

const OBJECTS: core::ops::Range<u32> = 0..4;
const NUMBERS: core::ops::Range<u32> = 4..8;
const COUNTERS: core::ops::Range<u32> = 8..10;
const PACKED: core::ops::Range<u32> = 10..12;
pub(crate) const REGISTERS: u32 = 12;

/// A program: what it does once, with loops around parts of it. All objects are made in the outermost one, or there are some from outside.
pub(crate) fn program(random: &mut Random) -> Vec<Op> {
    let number = |dst: u32, value: i64| Op::Number { dst: dst.into(), value: Imm(value) };
    let mut code: Vec<Op> = NUMBERS.map(|dst| number(dst, i64::from(dst) * 3)).collect();
    let object = |random: &mut Random, dst: u32| {
        let [a, b] = [0; 2].map(|_| (NUMBERS.start + random.below(4) as u32).into());
        Op::New { dst: dst.into(), a, b }
    };
    code.extend(OBJECTS.map(|dst| object(random, dst)));
    code.extend(PACKED.map(|dst| Op::Pack { dst: dst.into(), object: (dst - PACKED.start).into() }));
    let mut heads = Vec::new();
    for counter in COUNTERS {
        code.push(number(counter, 6));
        heads.push((counter, code.len()));
        if random.one_in(2) {
            code.extend(OBJECTS.take(1 + random.below(4)).map(|dst| object(random, dst)));
        }
        some(random, &mut code, object);
    }
    while let Some((counter, head)) = heads.pop() {
        some(random, &mut code, object);
        code.push(Op::Count { n: counter.into(), to: Label(head as u32) });
        some(random, &mut code, object);
    }
    code.push(match random.below(3) {
        0 => Op::ReturnSum { object: 0.into() },
        _ => Op::Return { a: NUMBERS.start.into() },
    });
    code
}

/// Adds some bytecodes.
fn some(random: &mut Random, code: &mut Vec<Op>, new: impl Fn(&mut Random, u32) -> Op) {
    for _ in 0..random.below(9) {
        let mut of = |all: &core::ops::Range<u32>| all.start + random.below(all.len()) as u32;
        let (to, object, other) = (of(&OBJECTS), of(&OBJECTS).into(), of(&OBJECTS).into());
        let (dst, a, b) = (of(&NUMBERS), of(&NUMBERS).into(), of(&NUMBERS).into());
        let packed = of(&PACKED);
        let (at, skips) = (Imm(random.below(2) as u32), random.below(3) as u32);
        let of = Imm([1, 7, 63, 1023][random.below(4)]);
        code.push(match random.below(32) {
            24 if random.one_in(2) => Op::Change { object },
            25 => Op::KeepIfRare { a, object, of },
            26 => Op::SumKept { dst: dst.into() },
            28 | 29 => Op::GetOwn { dst: dst.into(), object, at },
            30 | 31 => Op::SetOwn { object, at, value: a },
            27 if random.one_in(2) => Op::Sum { dst: dst.into(), object },
            0..=4 => new(random, to),
            5..=8 => Op::Get { dst: dst.into(), object, at },
            9..=12 => Op::Set { object, at, value: a },
            13 => Op::Hold { object, other },
            14 => Op::Held { dst: to.into(), object },
            15 if random.one_in(3) => Op::Same { dst: dst.into(), a: object, b: other },
            16 => Op::Move { dst: to.into(), a: object },
            17 if random.one_in(2) => Op::Pack { dst: packed.into(), object },
            18 if random.one_in(2) => Op::Unpack { dst: to.into(), packed: packed.into() },
            17 => Op::SumIfRare { dst: dst.into(), object, of },
            18 => Op::SumSlowly { dst: dst.into(), object, of },
            19 => Op::LeaveIfRare { a, of },
            // Over what comes next, of which there is something in any case.
            20 => Op::JumpIfLess { a, b, to: Label(code.len() as u32 + 1 + skips) },
            _ => Op::Add { dst: dst.into(), a, b },
        });
        if let Some(Op::JumpIfLess { .. }) = code.last() {
            let mut of = |all: &core::ops::Range<u32>| all.start + random.below(all.len()) as u32;
            for _ in 0..skips {
                let (object, value) = (of(&OBJECTS).into(), of(&NUMBERS).into());
                code.push(Op::Set { object, at: Imm(0), value });
            }
        }
    }
}
