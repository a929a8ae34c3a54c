//! Operators of a user's crate: interpreted code and compiled code agree, with and without the machine's instruction, and
//! an engine without tiles for them refuses to compile.

#![cfg(target_arch = "x86_64")]

use azulejo::prelude::*;
use azulejo_custom_operator::{Op, TILES, engine};

const VALUES: [i64; 9] =
    [0, 1, -1, 0xff, i64::MIN, i64::MAX, 0x0123_4567_89ab_cdef, 0x5555_5555_5555_5555, 0xffff_0000];

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

fn spread(bits: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|place| mask >> place & 1 != 0);
    places.enumerate().map(|(bit, place)| (bits >> bit & 1) << place).sum()
}

/// Runs one opcode on registers 0 and 1 in both tiers, and checks its result in register 2.
#[track_caller]
fn check(engine: &Engine<Op>, op: Op, a: i64, b: i64, expected: u64) {
    let code = vec![op, Op::Return { a: r(2) }];
    let function = engine.define(format!("{op:?}"), code, 3).expect("the code is right");
    let interpreted: i64 = engine.interpret(function, &mut (), (a, b)).expect("it ends");
    assert_eq!(interpreted as u64, expected, "interpreted {op:?} of {a:#x} {b:#x}");
    engine.compile(function).expect("it compiles");
    let compiled: i64 = engine.call(function, &mut (), (a, b)).expect("it ends");
    assert_eq!(compiled as u64, expected, "compiled {op:?} of {a:#x} {b:#x}");
}

fn check_all(engine: &Engine<Op>) {
    for a in VALUES {
        for b in VALUES {
            let all = spread(a as u64, b as u64);
            check(engine, Op::Spread { dst: r(2), bits: r(0), mask: r(1) }, a, b, all);
            let narrow = spread(a as u32 as u64, b as u8 as u64);
            check(engine, Op::SpreadNarrow { dst: r(2), bits: r(0), mask: r(1) }, a, b, narrow);
        }
        check(engine, Op::Low9 { dst: r(2), a: r(0) }, a, 0, a as u64 & 0x1ff);
        for count in [0u8, 1, 31, 32, 40] {
            let expected = (a as u32 as u64) & ((1u64 << count) - 1);
            check(engine, Op::Low { dst: r(2), a: r(0), count: Imm(count) }, a, 0, expected);
        }
    }
}

#[test]
fn operators_of_a_user_do_the_same_in_both_tiers() {
    check_all(&engine());
}

#[test]
fn a_processor_without_the_instruction_does_it_bit_by_bit() {
    // SAFETY: each tile implements its pattern.
    check_all(&unsafe { Engine::<Op>::builder().tiles(&TILES) }.only_features(&[]).build());
}

#[test]
fn a_flag_of_a_user_decides_a_branch() {
    let engine = engine();
    let code = vec![
        Op::JumpIfDisjoint { a: r(0), b: r(1), to: Label(2) },
        Op::Return { a: r(0) },
        Op::Return { a: r(1) },
    ];
    let function = engine.define("flag", code, 2).expect("the code is right");
    engine.compile(function).expect("it compiles");
    for (a, b) in [(1, 2), (3, 2), (0, 0), (-1, 1)] {
        let expected = if a & b == 0 { b } else { a };
        assert_eq!(engine.interpret::<_, i64>(function, &mut (), (a, b)), Ok(expected));
        assert_eq!(engine.call::<_, i64>(function, &mut (), (a, b)), Ok(expected));
    }
}

#[test]
fn the_instruction_is_used_where_the_processor_has_it() {
    if !std::arch::is_x86_feature_detected!("bmi2") {
        eprintln!("skipped: this processor has no bmi2");
        return;
    }
    let engine = engine();
    let code = vec![Op::Spread { dst: r(2), bits: r(0), mask: r(1) }, Op::Return { a: r(2) }];
    let function = engine.define("spread", code, 3).expect("the code is right");
    engine.compile(function).expect("it compiles");
    let listing = engine.disassemble(function).expect("it was compiled").to_string();
    // The mask is a memory operand of the instruction.
    let pdep = listing.lines().find(|line| line.contains("pdep")).expect(&listing);
    assert!(pdep.contains("[rsi+8]"), "{listing}");
}

#[test]
fn an_engine_without_tiles_for_an_operator_says_so() {
    let engine = Engine::<Op>::new();
    let function = engine.define("f", vec![Op::Return { a: r(0) }], 1).expect("the code is right");
    let error = engine.compile(function).expect_err("the usual tiles know no `pdep`");
    assert_eq!(error, Error::NoTiles { operator: "pdep" });
    assert!(error.to_string().contains("`pdep`"), "{error}");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (7,)), Ok(7), "it is interpreted");
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Other {
    OddOnes { dst: Out<i64>, a: In<i64> },
    NextAfter { dst: Out<i64>, a: In<i64> },
    Return { a: In<i64> },
}

template! {
    use azulejo_custom_operator::parity;

    Other::OddOnes   => (if (^is_odd $a) $a 0)
    // The macro's definition uses the name `$a` for something else.
    Other::NextAfter => (let: (($b (add $a 10))) (sub (^next_odd (^next_odd $b)) $a))
    Other::Return    => (return $a)
}

#[test]
fn macros_are_shared_between_crates() {
    let engine = Engine::<Other>::new();
    let code = vec![Other::OddOnes { dst: r(1), a: r(0) }, Other::Return { a: r(1) }];
    let function = engine.define("odd", code, 2).expect("the code is right");
    engine.compile(function).expect("it compiles");
    for (a, expected) in [(7, 7), (8, 0)] {
        assert_eq!(engine.interpret::<_, i64>(function, &mut (), (a,)), Ok(expected));
        assert_eq!(engine.call::<_, i64>(function, &mut (), (a,)), Ok(expected));
    }
    let code = vec![Other::NextAfter { dst: r(1), a: r(0) }, Other::Return { a: r(1) }];
    let function = engine.define("next", code, 2).expect("the code is right");
    engine.compile(function).expect("it compiles");
    for (a, expected) in [(7, 19 + 2 - 7), (8, 19 + 2 - 8)] {
        assert_eq!(engine.interpret::<_, i64>(function, &mut (), (a,)), Ok(expected));
        assert_eq!(engine.call::<_, i64>(function, &mut (), (a,)), Ok(expected));
    }
}
