//! The tiles of x86-64, in groups of rows.

pub mod atomic;
pub mod compare;
pub mod control;
pub mod convert;
pub mod divide;
pub mod float;
pub mod int;
pub mod memory;
pub mod rmw;
mod sequences;
pub mod test;
pub mod zero;

use azulejo_macros::{tile, tileset};

tileset! {
    // ORDER FEATURES: as in `Features`.
    pub static X64:
    machine = ::azulejo::__private::machine;
    features = sse41 popcnt lzcnt bmi1 bmi2 avx fma;
    groups = crate::tiles::memory crate::tiles::rmw crate::tiles::int crate::tiles::zero crate::tiles::divide
        crate::tiles::compare crate::tiles::test crate::tiles::control crate::tiles::convert crate::tiles::float
        crate::tiles::atomic;
}

tile! {
    pub forms address;

    // the forms of a memory operand
    form mem {
        base: reg => |t| crate::Mem::at(t.reg(0), 0),
        ofs: (addr reg $o) => |t| crate::Mem::at(t.reg(0), t.imm(0)),
        elem: (idx reg reg $s), 1 => |t| crate::Mem::element(t.reg(0), t.reg(1), t.imm(0), 0),
        elem_ofs: (addr (idx reg reg $s) $o), 1 => |t| crate::Mem::element(t.reg(0), t.reg(1), t.imm(0), t.imm(1)),
    }
    // the forms without array elements, for tiles in which those are too rare
    form near {
        base: reg => |t| crate::Mem::at(t.reg(0), 0),
        ofs: (addr reg $o) => |t| crate::Mem::at(t.reg(0), t.imm(0)),
    }
}
