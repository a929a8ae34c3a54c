//! What the machine code of an interpreter knows of the function that it runs, and how it goes on to the next bytecode.
//!
//! In: a function and its engine's words. Out: a [`Record`], whose fields the code reads at fixed offsets, and a [`Dispatch`] for
//! each opcode, which is the constant of the operators `dispatch` and `dispatch_to`.

use core::mem::offset_of;

/// A function, as the code that interprets it reads it. The code holds its address in a register.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The first bytecode.
    pub code: *const u8,
    /// The list that `Labels` operands point into.
    pub labels: *const u32,
    /// The value of `(cu)`.
    pub unit: *const (),
    /// The address of the engine's [`CellTable`](crate::pass::build::CellTable).
    pub functions: u64,
    /// The address of the first bytecode's entry in [`SlowPaths`](super::slow_paths::SlowPaths); zero if there are none.
    pub slow_paths: u64,
    /// How many more backward jumps the function may make.
    pub budget: *const i32,
    /// The address of a word that is not zero once the program is to stop.
    pub stop: u64,
    /// The address of the fuel, an `i64`.
    pub fuel: u64,
    /// By opcode, the address of the code that interprets it.
    pub table: *const usize,
}

impl Record {
    /// Offset of the first bytecode's address.
    pub const CODE: u64 = offset_of!(Record, code) as u64;
    /// Offset of the labels' address.
    pub const LABELS: u64 = offset_of!(Record, labels) as u64;
    /// Offset of the unit.
    pub const UNIT: u64 = offset_of!(Record, unit) as u64;
    /// Offset of the address of the table of call cells.
    pub const FUNCTIONS: u64 = offset_of!(Record, functions) as u64;
    /// Offset of the address of the slow paths' entries.
    pub const SLOW_PATHS: u64 = offset_of!(Record, slow_paths) as u64;
    /// Offset of the budget's address.
    pub const BUDGET: u64 = offset_of!(Record, budget) as u64;
    /// Offset of the stop word's address.
    pub const STOP: u64 = offset_of!(Record, stop) as u64;
    /// Offset of the fuel's address.
    pub const FUEL: u64 = offset_of!(Record, fuel) as u64;
    /// Offset of the table's address.
    pub const TABLE: u64 = offset_of!(Record, table) as u64;
}

/// How an opcode's code goes on to another bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// The size of a bytecode.
    pub size: u32,
    /// How many slots the operand stack grows by.
    pub growth: i16,
    /// Whether an opcode's number takes two bytes of the bytecode. It is at the bytecode's start.
    pub is_wide: bool,
    /// Whether the bytecode type has an operand stack, whose top takes the register that otherwise holds the table.
    pub has_stack: bool,
}

impl Dispatch {
    /// The constant that encodes it.
    pub const fn bits(self) -> u64 {
        let Dispatch { size, growth, is_wide, has_stack } = self;
        size as u64 | (growth as u16 as u64) << 32 | (is_wide as u64) << 48 | (has_stack as u64) << 49
    }

    /// What a constant encodes.
    pub const fn of(bits: u64) -> Dispatch {
        Dispatch {
            size: bits as u32,
            growth: (bits >> 32) as i16,
            is_wide: bits >> 48 & 1 != 0,
            has_stack: bits >> 49 & 1 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatch_is_a_constant() {
        for growth in [-3, 0, 2] {
            for (is_wide, has_stack) in [(false, false), (false, true), (true, false), (true, true)] {
                let dispatch = Dispatch { size: 24, growth, is_wide, has_stack };
                assert_eq!(Dispatch::of(dispatch.bits()), dispatch);
            }
        }
    }
}
