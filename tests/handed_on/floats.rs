//! Values that are boxes for templates, and floats most of the time: baseline code hands a float on in a float's register, and whoever reads the
//! box has its bits.

use crate::{baseline, r};
use azulejo::prelude::*;
use azulejo_core::random::Random;

/// What is less is the bits of a float.
const TAG: u64 = 0xfff9 << 48;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    /// The sum, or what Rust makes of other boxes.
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    AddConst {
        dst: Out<u64>,
        a: In<u64>,
        k: Imm<f64>,
    },
    /// A number that an operator has made on no way.
    Copy {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// The box without its tag.
    Untag {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// Reads a float itself.
    Half {
        dst: Out<f64>,
        a: In<f64>,
    },
    /// Whether it is a number.
    IsNumber {
        dst: Out<u64>,
        a: In<u64>,
    },
    Three {
        dst: Out<u64>,
    },
    Loop {
        count: InOut<u64>,
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    macro ^number (,a) (ult ,a &TAG)
    macro ^float (,a) (bitcast ,a f64)
    Op::Add => (if (likely (all (^number $a) (^number $b))) (bitcast (add (^float $a) (^float $b)) u64)
        (call other (arglist (carg $a u64) (carg $b u64)) u64))
    Op::AddConst => (if (likely (^number $a)) (bitcast (add (^float $a) $k) u64)
        (call other (arglist (carg $a u64) (carg 1 u64)) u64))
    Op::Copy => (copy $a)
    Op::Untag => (and $a 0xffffffff)
    Op::Half => (mul $a 0.5)
    Op::IsNumber => (if (^number $a) 1 0)
    Op::Three => (const 3 u64)
    Op::Loop! => (dov (set $count (sub $count 1)) (when (nz $count) (branch $to)))
    Op::Return => (return $a)
}

fn other(a: u64, b: u64) -> u64 {
    TAG | (a.wrapping_mul(31) ^ b)
}

fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: r(dst), a: r(a), b: r(b) }
}

fn add_const(dst: u32, a: u32) -> Op {
    Op::AddConst { dst: r(dst), a: r(a), k: Imm(0.75) }
}

fn copy(dst: u32, a: u32) -> Op {
    Op::Copy { dst: r(dst), a: r(a) }
}

fn give(a: u32) -> Op {
    Op::Return { a: r(a) }
}

const REGISTERS: u32 = 5;

/// The result in all tiers, which must agree. The last registers are temporaries, if it is said so.
fn in_all_tiers(code: &[Op], temporaries: Option<u32>, arguments: (u64, u64)) -> u64 {
    let code = Code::from(code.to_vec());
    let code = if let Some(first) = temporaries { code.with_temporaries(first) } else { code };
    crate::in_all_tiers(&code, REGISTERS, arguments)
}

#[test]
fn a_float_is_handed_on_in_its_register() {
    let code = vec![add_const(2, 0), add_const(3, 2), add_const(4, 3), give(4)];
    let text = baseline(code.clone(), REGISTERS);
    for slot in ["0x10", "0x18"] {
        assert!(!text.contains(&format!(", [rbx+{slot}]")), "{text}");
    }
    // None takes its operand from an integer's register: the first loads it once more, as a float, and the others look at their operand's
    // bits, and compute with the float.
    let hot = &text[..text.find("ret").expect("it returns")];
    assert_eq!(hot.matches("movq xmm0, ").count(), 0, "{text}");
    assert_eq!(hot.matches("movsd xmm0, [rbx]").count(), 1, "{text}");
    let number = |value: f64| value.to_bits();
    assert_eq!(in_all_tiers(&code, None, (number(1.0), 0)), number(3.25));
    assert_eq!(in_all_tiers(&code, None, (TAG + 5, 0)), other(other(other(TAG + 5, 1), 1), 1));
}

#[test]
fn readers_of_bits_have_those_of_a_float() {
    let number = |value: f64| value.to_bits();
    for (reader, expected) in [
        (copy(3, 2), number(1.5)),
        (Op::Untag { dst: r(3), a: r(2) }, 0),
        (Op::Half { dst: r(3), a: r(2) }, number(0.75)),
        (Op::IsNumber { dst: r(3), a: r(2) }, 1),
    ] {
        let code = [add(2, 0, 1), reader, give(3)];
        assert_eq!(in_all_tiers(&code, None, (number(1.0), number(0.5))), expected, "{reader:?}");
        let code = [add(2, 0, 1), reader, add_const(4, 3), give(4)];
        in_all_tiers(&code, Some(2), (number(1.0), number(0.5)));
    }
}

/// A copy hands on what it was handed: as an integer, whatever it is and whoever is compiled first.
#[test]
fn what_is_only_copied_is_handed_on_the_same_way_always() {
    let number = |value: f64| value.to_bits();
    for code in [
        [copy(2, 0), add_const(3, 2), copy(4, 3), add(2, 4, 4), copy(3, 2), give(3)],
        [add_const(2, 0), copy(3, 2), copy(4, 3), add(2, 4, 3), copy(3, 2), give(3)],
    ] {
        assert_eq!(in_all_tiers(&code, None, (number(1.0), 0)), number(3.5));
        in_all_tiers(&code, None, (TAG, 0));
    }
}

#[test]
fn random_programs_do_the_same_in_all_tiers() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut code = vec![Op::Three { dst: r(2) }, copy(3, 1)];
        for _ in 0..3 + random.below(8) {
            let mut register = || [0, 1, 3, 4][random.below(4)];
            let (dst, a, b) = (register(), register(), register());
            code.push(match random.below(7) {
                0 | 1 => add(dst, a, b),
                2 | 3 => add_const(dst, a),
                4 => copy(dst, a),
                5 => Op::Untag { dst: r(dst), a: r(a) },
                _ => Op::IsNumber { dst: r(dst), a: r(a) },
            });
        }
        code.push(Op::Loop { count: r(2), to: Label(2 + random.below(3) as u32) });
        code.push(give([0, 1, 3, 4][random.below(4)]));
        let argument = [3.5f64.to_bits() + 3, TAG + 4, (-1e300f64).to_bits() + 2][random.below(3)];
        in_all_tiers(&code, None, (argument, [2.25f64.to_bits(), TAG + 9][random.below(2)]));
    }
}
