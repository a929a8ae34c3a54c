//! What the machine code of an interpreter knows of the function that it runs, and how it goes on to the next bytecode.
//!
//! In: a function and its engine's words. Out: a [`Record`], whose fields the code reads at fixed offsets, and a [`Dispatch`] for
//! each opcode, which is the constant of the operators `dispatch` and `dispatch_to`.

use super::frames::ShowPlan;
use crate::vocab::Type;
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
    /// The most arguments that calls by other functions of bytecode may have.
    pub most_arguments: u64,
    /// The most that get into slots. Others are dropped.
    pub taken_arguments: u64,
    /// The value of arguments that a call does not pass.
    pub missing: u64,
    /// How many slots at most are set to that value; none if it is zero.
    pub may_miss: u64,
    /// The number of arguments for which a call need do no more than store those in registers: none is missing, dropped or on the stack,
    /// and no slot has to be zero. All ones if there is no such number.
    pub exact_arguments: u64,
    /// The slots behind the arguments are set to zero up to here.
    pub cleared: u64,
    /// How many bytes of the machine's stack such a call takes below the registers that it saves.
    pub frame_bytes: u64,
    /// What the register of the table, or of the operand stack's top, holds when the function starts: this, plus the frame's address
    /// in the bits of the mask.
    pub kept: u64,
    /// All bits if there is an operand stack, otherwise none.
    pub mask: u64,
    /// The code of the first bytecode.
    pub start: usize,
    /// A bytecode's distance from the first, shifted by this and multiplied by the inverse, is its number.
    pub shift: u64,
    /// The inverse of the odd factor of a bytecode's size.
    pub inverse: u64,
    /// How the function shows its frame: see [`ShowPlan`].
    pub newest: u64,
    /// See [`ShowPlan::layout`], with [`ShownFrame::BY_DISTANCE`](super::frames::ShownFrame::BY_DISTANCE).
    pub layout: u64,
    /// The distance of the [`ShownFrame`](super::frames::ShownFrame) from the frame's start, in bytes.
    pub shown: u64,
}

/// What a record has of the function and of its engine; the rest follows from these.
#[derive(Clone, Copy, Debug)]
pub struct RecordParts {
    /// As in the record, and likewise the following.
    pub code: *const u8,
    /// See [`Record::labels`].
    pub labels: *const u32,
    /// See [`Record::unit`].
    pub unit: *const (),
    /// See [`Record::functions`].
    pub functions: u64,
    /// See [`Record::slow_paths`].
    pub slow_paths: u64,
    /// See [`Record::budget`].
    pub budget: *const i32,
    /// See [`Record::stop`].
    pub stop: u64,
    /// See [`Record::fuel`].
    pub fuel: u64,
    /// See [`Record::taken_arguments`].
    pub taken_arguments: u32,
    /// Whether calls may have more.
    pub drops_surplus: bool,
    /// See [`Record::missing`].
    pub missing: u64,
    /// How many slots a frame has.
    pub slots: u32,
    /// See [`Record::cleared`].
    pub cleared: u32,
    /// The number of VM registers, which the operand stack follows.
    pub registers: u32,
    /// How the function shows its frame, if it does.
    pub show: Option<ShowPlan>,
}

/// The number that undoes a multiplication by an odd number.
pub const fn inverse(odd: u64) -> u64 {
    // Each step doubles the number of low bits that are right, from three.
    let (mut found, mut step) = (odd, 0);
    while step < 5 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        step += 1;
    }
    found
}

impl Record {
    /// The constant of the operator `record` for the word at this offset. Words with different readings are read one by one, even if they
    /// are one word: so none is kept in a register for the others.
    pub const fn word(offset: u64, reading: u8) -> u64 {
        offset | (reading as u64) << 32
    }

    /// The offset in such a constant.
    pub const fn offset_in(word: u64) -> u64 {
        word & u32::MAX as u64
    }

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
    /// Offset of the most arguments of a call.
    pub const MOST_ARGUMENTS: usize = offset_of!(Record, most_arguments);
    /// Offset of the most arguments that are taken.
    pub const TAKEN_ARGUMENTS: usize = offset_of!(Record, taken_arguments);
    /// Offset of the value of arguments that are missing.
    pub const MISSING: usize = offset_of!(Record, missing);
    /// Offset of the number of slots that may be set to that.
    pub const MAY_MISS: usize = offset_of!(Record, may_miss);
    /// Offset of the number of arguments of calls that need no more.
    pub const EXACT_ARGUMENTS: usize = offset_of!(Record, exact_arguments);
    /// Offset of the end of the slots that are set to zero.
    pub const CLEARED: usize = offset_of!(Record, cleared);
    /// Offset of the size of a frame on the machine's stack.
    pub const FRAME_BYTES: usize = offset_of!(Record, frame_bytes);
    /// Offset of what a register holds when the function starts.
    pub const KEPT: usize = offset_of!(Record, kept);
    /// Offset of the mask.
    pub const MASK: usize = offset_of!(Record, mask);
    /// Offset of the address of the first bytecode's code.
    pub const START: usize = offset_of!(Record, start);
    /// Offset of the shift.
    pub const SHIFT: usize = offset_of!(Record, shift);
    /// Offset of the inverse.
    pub const INVERSE: usize = offset_of!(Record, inverse);
    /// Offset of the address of the word that leads to the newest of the frames that are shown.
    pub const NEWEST: u64 = offset_of!(Record, newest) as u64;
    /// Offset of the layout.
    pub const LAYOUT: u64 = offset_of!(Record, layout) as u64;
    /// Offset of the distance of the shown frame.
    pub const SHOWN: u64 = offset_of!(Record, shown) as u64;
}

/// A field of a bytecode, which is extended to 64 bits when it is read: the constant of the operator `field`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The distance from the bytecode's start, in bytes.
    pub offset: u16,
    /// An integer type.
    pub ty: Type,
    /// Whether it is extended with its sign.
    pub is_signed: bool,
    /// Fields with different numbers are read one by one, even if they are one field: so none is kept in a register for the others.
    pub reading: u8,
}

impl Field {
    /// The constant that encodes it.
    pub const fn bits(self) -> u64 {
        let Field { offset, ty, is_signed, reading } = self;
        offset as u64 | (ty.bits() as u64) << 16 | (is_signed as u64) << 32 | (reading as u64) << 40
    }

    /// What a constant encodes.
    pub const fn of(bits: u64) -> Field {
        let ty = match bits >> 16 & 0xff {
            8 => Type::I8,
            16 => Type::I16,
            32 => Type::I32,
            _ => Type::I64,
        };
        Field { offset: bits as u16, ty, is_signed: bits >> 32 & 1 != 0, reading: (bits >> 40) as u8 }
    }
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
    fn an_inverse_divides_multiples() {
        for odd in [1, 3, 5, 7, 11, 0x1_0001, u64::MAX] {
            for number in [0, 1, 2, 1000, u32::MAX as u64] {
                assert_eq!(odd.wrapping_mul(number).wrapping_mul(inverse(odd)), number);
            }
        }
    }

    #[test]
    fn a_field_is_a_constant() {
        for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
            for is_signed in [false, true] {
                for reading in [0, 255] {
                    let field = Field { offset: 1000, ty, is_signed, reading };
                    assert_eq!(Field::of(field.bits()), field);
                }
            }
        }
    }

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
