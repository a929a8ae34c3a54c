//! A bytecode with operators of its own. `docs/adding-an-operator.md` walks through this file, which is self-contained: no
//! file of azulejo mentions these operators.

#![cfg(target_arch = "x86_64")]

use azulejo::prelude::*;

pub mod emitters;

pub mod ops {
    //! What the operators are and mean.

    azulejo::operators! {
        /// The low bits of the first operand, spread to where the second has ones.
        pdep: (same same) -> same, i32|i64, unsigned, pure => |sig, operands| {
            let (mut bits, mut mask, mut result) = (operands[0], sig.ty.truncate(operands[1]), 0);
            while mask != 0 {
                if bits & 1 != 0 {
                    result |= mask & mask.wrapping_neg();
                }
                bits >>= 1;
                mask &= mask - 1;
            }
            Ok(result)
        },
        /// So many of the low bits; none above them.
        low_bits: (same) [code] -> same, i32|i64, pure => |_, operands| {
            Ok(operands[0] & u64::MAX.checked_shr(64 - operands[1] as u32).unwrap_or(0))
        },
        /// Whether the operands have no bit in common.
        disjoint: (same same) -> flag, i32|i64, unsigned, pure, commutes => |_, operands| {
            Ok((operands[0] & operands[1] == 0) as u64)
        },
    }
}

pub mod tiles {
    //! The tiles for the operators on this machine.

    #![allow(clippy::useless_conversion, reason = "dynasm! converts registers whatever they are")]

    use azulejo::x64::{Cond, Emitter, Tile, Type};
    use dynasmrt::{DynasmApi, dynasm};

    azulejo::tile! {
        pub group own;

        pdep: (pdep.$t:i32|i64 reg reg) -> reg, 3, needs(bmi2) => |cx, t| {
            let (out, bits, mask) = (t.out(), t.reg(0), t.reg(1));
            match t.sig.ty {
                Type::I64 => dynasm!(cx; .arch x64; pdep Rq(out), Rq(bits), Rq(mask)),
                _ => dynasm!(cx; .arch x64; pdep Rd(out), Rd(bits), Rd(mask)),
            }
        },
        pdep_load: (pdep.i64 reg (load.i64 (addr reg $offset))) -> reg, 6, needs(bmi2) => |cx, t| {
            dynasm!(cx; .arch x64; pdep Rq(t.out()), Rq(t.reg(0)), [Rq(t.reg(1)) + t.imm(0) as i32])
        },
        pdep_by_bits: (pdep.$t:i32|i64 reg reg) -> reg, 100, early, temp(int), temp(int), temp(int)
            => |cx, t| bit_by_bit(cx, t),
        low_bits: (low_bits.$t:i32|i64 reg $count) -> reg, 3, tied(0) => |cx, t| {
            // The machine takes shift counts modulo the width, so a shift cannot clear everything.
            let (out, above) = (t.out(), t.sig.ty.bits() as i64 - t.imm(0));
            match (t.sig.ty, above) {
                (_, ..=0) => {}
                (Type::I64, 1..64) => dynasm!(cx; .arch x64; shl Rq(out), above as i8; shr Rq(out), above as i8),
                (Type::I32, 1..32) => dynasm!(cx; .arch x64; shl Rd(out), above as i8; shr Rd(out), above as i8),
                _ => dynasm!(cx; .arch x64; xor Rd(out), Rd(out)),
            }
        },
        disjoint: (disjoint.$t:i32|i64 reg reg) -> flag, 1 => |cx, t| {
            match t.sig.ty {
                Type::I64 => dynasm!(cx; .arch x64; test Rq(t.reg(0)), Rq(t.reg(1))),
                _ => dynasm!(cx; .arch x64; test Rd(t.reg(0)), Rd(t.reg(1))),
            }
            cx.flag(Cond::E);
        },
    }

    /// A fallback for processors without `bmi2`: handles the one bits of the mask one by one, from the lowest.
    fn bit_by_bit(cx: &mut Emitter, t: &Tile<'_>) {
        let (out, bits, mask, lowest) = (t.out(), t.temp(0), t.temp(1), t.temp(2));
        match t.sig.ty {
            Type::I64 => dynasm!(cx; .arch x64; mov Rq(bits), Rq(t.reg(0)); mov Rq(mask), Rq(t.reg(1))),
            _ => dynasm!(cx; .arch x64; mov Rd(bits), Rd(t.reg(0)); mov Rd(mask), Rd(t.reg(1))),
        }
        dynasm!(cx; .arch x64; xor Rd(out), Rd(out));
        let again = cx.here();
        dynasm!(cx; .arch x64; test Rq(mask), Rq(mask));
        let done = cx.skip(Cond::E);
        dynasm!(cx
            ; .arch x64
            ; mov Rq(lowest), Rq(mask)
            ; neg Rq(lowest)
            ; and Rq(lowest), Rq(mask)
            ; xor Rq(mask), Rq(lowest)
            ; shr Rq(bits), 1
        );
        let zero = cx.skip(Cond::Ae);
        dynasm!(cx; .arch x64; or Rq(out), Rq(lowest));
        cx.land(zero);
        cx.skip_back(None, again);
        cx.land(done);
    }
}

azulejo::tileset! {
    pub static TILES:
    extends azulejo::x64::X64;
    operators = crate::ops;
    groups = crate::tiles;
}

/// The opcodes.
#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(operators = crate::ops)]
#[allow(missing_docs, reason = "the templates say what they are")]
pub enum Op {
    Spread { dst: Out<i64>, bits: In<i64>, mask: In<i64> },
    SpreadNarrow { dst: Out<i32>, bits: In<i32>, mask: In<u8> },
    Low9 { dst: Out<u64>, a: In<u64> },
    Low { dst: Out<u32>, a: In<u32>, count: Imm<u8> },
    JumpIfDisjoint { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Spread         => (pdep $bits $mask)
    Op::SpreadNarrow   => (pdep $bits $mask)
    Op::Low9           => (low_bits $a 9)
    Op::Low            => (low_bits $a $count)
    Op::JumpIfDisjoint => (when (disjoint $a $b) (branch $to))
    Op::Return         => (return $a)
}

template_macros! {
    pub parity {
        macro ^is_odd (,x) (nz (and ,x &crate::LOWEST))
        macro ^next_odd (,x) (let: (($a (add ,x 1))) (or $a &crate::LOWEST))
    }
}

/// The bit that is set in odd numbers.
pub const LOWEST: i64 = 1;

/// An engine with tiles for these operators.
pub fn engine() -> Engine<Op> {
    // SAFETY: each tile does what its pattern means, on the registers that it names.
    unsafe { Engine::<Op>::builder().tiles(&TILES) }.build()
}
