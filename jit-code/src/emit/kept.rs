//! What baseline code keeps in registers besides context and slots.
//!
//! In: the function's unit, and the constants that its bytecode type pins. Out: the registers that hold them, with their values: whatever
//! enters baseline code puts them there.

use super::Backend;
use azulejo_core::target::{Reg, RegSet};

/// The values that a function's baseline code keeps in registers: only those that its stencils read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptValues {
    /// The value of `(cu)`.
    pub unit: Option<u64>,
    /// The constants that are pinned; there may be more than the machine has registers for.
    pub pinned: &'static [u64],
}

impl KeptValues {
    /// The pinned constants, each with its register.
    pub(crate) fn pinned<M: Backend>(&self) -> impl Iterator<Item = (Reg, u64)> {
        core::iter::zip(M::REGISTERS.pinned.iter().copied(), self.pinned.iter().copied())
    }

    /// The registers of all values.
    pub(crate) fn registers<M: Backend>(&self) -> RegSet {
        let unit = self.unit.map_or(RegSet::EMPTY, |_| RegSet::of(&M::REGISTERS.kept[2..]));
        self.pinned::<M>().fold(unit, |set, (reg, _)| set.union(RegSet::of(&[reg])))
    }
}
