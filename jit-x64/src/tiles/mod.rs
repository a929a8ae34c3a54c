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

use azulejo_macros::tileset;

tileset! {
    // ORDER FEATURES: as in `Features`.
    pub static X64:
    machine = ::azulejo::__private::x64;
    features = sse41 popcnt lzcnt bmi1 bmi2 avx fma;
    groups = crate::tiles::memory crate::tiles::rmw crate::tiles::int crate::tiles::zero crate::tiles::divide
        crate::tiles::compare crate::tiles::test crate::tiles::control crate::tiles::convert crate::tiles::float
        crate::tiles::atomic;
}

/// Memory operands of tiles: `k` is the first of the registers, `j` the first of the constants that are its parts.
mod mem {
    use crate::emit::Tile;
    use crate::encode::Mem;

    /// `reg`
    pub(super) fn base(t: &Tile<'_>, k: usize, _: usize) -> Mem {
        Mem::at(t.reg(k), 0)
    }

    /// `(addr reg $o)`
    pub(super) fn ofs(t: &Tile<'_>, k: usize, j: usize) -> Mem {
        Mem::at(t.reg(k), t.imm(j))
    }

    /// `(idx reg reg $s)`
    pub(super) fn elem(t: &Tile<'_>, k: usize, j: usize) -> Mem {
        Mem::element(t.reg(k), t.reg(k + 1), t.imm(j), 0)
    }

    /// `(addr (idx reg reg $s) $o)`
    pub(super) fn elem_ofs(t: &Tile<'_>, k: usize, j: usize) -> Mem {
        Mem::element(t.reg(k), t.reg(k + 1), t.imm(j), t.imm(j + 1))
    }
}
