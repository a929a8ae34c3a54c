//! The tiles of `docs/emitters.md`: each of them is selected, and agrees with the interpreter.

#![cfg(target_arch = "x86_64")]

use azulejo::prelude::*;
use azulejo_custom_operator::emitters::TILES;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Sub { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Xor { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Or { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Add { dst: Out<i64>, a: In<i64> },
    And { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Square { dst: Out<i64>, a: In<i64> },
    Less { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Least { dst: Out<i64>, a: In<i64>, b: In<i64> },
    LeastNarrow { dst: Out<i32>, a: In<i32>, b: In<i32> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Choose { a: In<u64>, table: Labels },
    Popcnt { dst: Out<i64>, a: In<i64> },
    Not { dst: Out<i64>, a: In<i64> },
    Neg { dst: Out<f64>, a: In<f64> },
    Half { dst: Out<f64>, a: In<f64> },
    Return { a: In<i64> },
}

template! {
    Op::Sub => (sub $a $b)
    Op::Xor => (xor $a $b)
    Op::Or => (or $a $b)
    Op::Add => (add $a 1000)
    Op::And => (and $a $b)
    Op::Mul => (mul $a $b)
    Op::Square => (mul (add $a 1) (add $a 1))
    Op::Less => (flagval (lt $a $b) i64)
    Op::Least => (if (lt $a $b) $a $b)
    Op::LeastNarrow => (if (lt $a $b) $a $b)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Choose => (switch $a $table)
    Op::Popcnt => (popcnt $a)
    Op::Not => (not $a)
    Op::Neg => (neg $a)
    Op::Half => (mul $a 0.5)
    Op::Return => (return $a)
}

const AWKWARD: [u64; 9] =
    [0, 1, 2, 3, u64::MAX, 1 << 63, 0x7fff_ffff_ffff_ffff, 0x3ff8_0000_0000_0000, 0x7ff8_0000_0000_0000];

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

#[test]
fn every_tile_does_what_the_interpreter_does() -> Result<(), Error> {
    // SAFETY: each tile implements its pattern.
    let engine: Engine<Op> =
        unsafe { Engine::<Op>::builder().only_features(&[]).tiles(&TILES) }.checks(true).build();
    let ret = |register| Op::Return { a: r(register) };
    let one = |op| vec![op, ret(2)];
    let (dst, a, b) = (2, 0, 1);
    let mut seen = String::new();
    for ops in [
        one(Op::Sub { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Xor { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Or { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Mul { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Square { dst: r(dst), a: r(b) }),
        one(Op::Add { dst: r(dst), a: r(a) }),
        one(Op::And { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Less { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::Least { dst: r(dst), a: r(a), b: r(b) }),
        one(Op::LeastNarrow { dst: r(dst), a: r(a), b: r(b) }),
        vec![Op::JumpLess { a: r(a), b: r(b), to: Label(2) }, ret(a), ret(b)],
        vec![
            Op::Choose { a: r(a), table: Labels { first: 0, count: 4 } },
            ret(0),
            ret(1),
            Op::Add { dst: r(dst), a: r(a) },
            Op::JumpLess { a: r(dst), b: r(b), to: Label(3) },
            ret(2),
        ],
        one(Op::Popcnt { dst: r(dst), a: r(a) }),
        one(Op::Not { dst: r(dst), a: r(a) }),
        one(Op::Neg { dst: r(dst), a: r(a) }),
        one(Op::Half { dst: r(dst), a: r(a) }),
    ] {
        let code = Code { labels: vec![1, 2, 5, 2], ..ops.into() };
        let name = format!("{:?}", code.ops[0]);
        let function = engine.define(&name, code, 3)?;
        engine.compile(function)?;
        seen.push_str(&engine.stages(function)?);
        for a in AWKWARD {
            for b in AWKWARD {
                let interpreted: u64 = engine.interpret(function, &mut (), (a, b))?;
                let compiled: u64 = engine.call(function, &mut (), (a, b))?;
                assert_eq!(interpreted, compiled, "{name} of {a:#x} and {b:#x}");
            }
        }
    }
    for tile in [
        "my_sub",
        "xor_own",
        "or_own",
        "my_add",
        "my_and_base",
        "my_mul_register",
        "my_mul_field",
        "my_lt",
        "my_flagval",
        "my_select",
        "my_select_narrow",
        "my_branch",
        "my_switch",
        "my_popcnt",
        "my_not",
        "my_neg",
        "my_const",
    ] {
        assert!(seen.contains(&format!(": {tile}.")), "{tile} is never chosen");
    }
    Ok(())
}
