//! What baseline code keeps in registers besides context and slots.
//!
//! In: the function's unit, and the constants that its bytecode type pins. Out: the registers that hold them, with their values: whatever
//! enters baseline code puts them there.

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
    /// The values, each with its register: that of `(cu)`, and those of pinned constants.
    pub(crate) fn each(self, unit: Reg, pinned: &'static [Reg]) -> impl Iterator<Item = (Reg, u64)> {
        let pinned = core::iter::zip(pinned.iter().copied(), self.pinned.iter().copied());
        self.unit.map(|value| (unit, value)).into_iter().chain(pinned)
    }

    /// The registers of all values.
    pub(crate) fn registers(self, unit: Reg, pinned: &'static [Reg]) -> RegSet {
        self.each(unit, pinned).fold(RegSet::EMPTY, |mut set, (reg, _)| {
            set.insert(reg);
            set
        })
    }
}
