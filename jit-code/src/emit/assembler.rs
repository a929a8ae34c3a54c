//! The instructions that no tile emits: they enter and leave functions, and call them.
//!
//! In: what such code does, one instruction at a time, with registers as a machine's conventions name them. Out: the machine's
//! code for it. [`leave`](super::leave), [`admit`](super::admit), [`adapter`](super::adapter) and [`around`](super::around)
//! are written with these instructions, once for all machines.

use super::Goal;
use crate::exit::Records;
use crate::field::Field;
use azulejo_core::ir::index::Block;
use azulejo_core::target::Reg;
use azulejo_core::vocab::Type;

/// The registers of a machine's conventions, by what they hold.
#[derive(Debug)]
pub struct CallRegisters {
    /// What a function returns: a status and a value to an engine, the bits of a result and a trap's code to a function of
    /// bytecode.
    pub results: [Reg; 2],
    /// In a call between functions of bytecode: the callee's cell.
    pub cell: Reg,
    /// In such a call: the context.
    pub context: Reg,
    /// In such a call: the number of arguments.
    pub count: Reg,
    /// In a call whose arguments are in memory: their number.
    pub count_in_memory: Reg,
    /// In a call by an engine: the context, the frame, and the third argument.
    pub entered_with: [Reg; 3],
    /// The arguments of the host's function `resume`.
    pub resume: [Reg; 5],
    /// The cell of a function that fails, for the stub `note`.
    pub noted: Reg,
    /// The cell of baseline code, where it is left before the function's end. It is not a result.
    pub left: Reg,
    /// The host, for the stub `enter_next`. It is not a result.
    pub host: Reg,
    /// A register that holds neither an argument nor a result.
    pub temp: Reg,
    /// Where baseline code keeps the context, the slots, and `(cu)` if it needs that.
    pub kept: [Reg; 3],
    /// Where baseline code keeps constants that the bytecode type pins, as many as there are registers for that. Calls preserve them.
    pub pinned: &'static [Reg],
    /// Where interpreted code keeps the address of the bytecode, its function's record, and the table of opcodes; where there is an
    /// operand stack, its top in place of the table. All are preserved by calls.
    pub interpreted: [Reg; 3],
}

/// Where a jump or a call leads.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// To the address in a register.
    Register(Reg),
    /// To the address in memory, at this offset from a register.
    Word(Reg, i64),
    /// To this address. A register that holds neither an argument nor a result may be overwritten.
    Address(u64),
    /// To the caller.
    Caller,
}

/// A condition that code tests.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// It always holds.
    Always,
    /// The register, or its low 32 bits, are zero.
    IsZero(Type, Reg),
    /// The register, or its low 32 bits, are not zero.
    IsNotZero(Type, Reg),
    /// The register's low 32 bits differ from this number.
    Differs(Reg, u32),
    /// The register's low 32 bits are greater than this number.
    Exceeds(Reg, u32),
    /// The first result differs from this status.
    HasOtherStatus(u64),
    /// The upper half of the first result is this number.
    HasReason(u32),
    /// The register does not have this bit.
    LacksBit(Reg, u64),
    /// The counter at this address is below zero when one is subtracted, which the test does.
    IsUsedUp(*const i32),
    /// The stack pointer is less than this far above the lowest address that the host permits.
    IsDeep {
        /// The host's address.
        host: u64,
        /// How many bytes.
        room: u32,
    },
}

/// A change of the two result registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// The two are swapped: status and value are in one order for an engine and in the other in baseline code.
    Turned,
    /// A trap's code, in the second register, becomes the status of that trap, in the first one.
    Trapped,
}

/// A machine's instructions for code that comes from no tile. None but [`clear_register`](Self::clear_register) and the tests
/// changes the CPU's flags.
pub trait Assembler: Sized {
    /// The registers of the conventions.
    const REGISTERS: CallRegisters;

    /// Copies a register.
    fn copy_register(&mut self, to: Reg, from: Reg);

    /// Sets a register to a constant.
    fn set_register(&mut self, to: Reg, bits: u64);

    /// Sets a register to zero.
    fn clear_register(&mut self, to: Reg);

    /// Sets a register to a constant of 64 bits that is written afterwards; returns the fields that hold it.
    fn set_later(&mut self, to: Reg) -> Vec<(usize, Field)>;

    /// Loads the word at this offset from a register.
    fn load_word(&mut self, to: Reg, base: Reg, offset: i64);

    /// Stores a register, or zero, in the word at this offset from a register.
    fn store_word(&mut self, base: Reg, offset: i64, from: Option<Reg>);

    /// Adds a constant to a register, and puts the sum into another.
    fn address(&mut self, to: Reg, base: Reg, offset: i64);

    /// Jumps.
    fn jump_at(&mut self, target: Target);

    /// Calls a function.
    fn call_at(&mut self, target: Target);

    /// Jumps to a block or an exit.
    fn jump_to(&mut self, goal: Goal);

    /// Jumps to a block if a condition holds.
    fn branch_to(&mut self, test: Test, to: Block);

    /// Skips the code that follows if a condition holds, up to where the returned offset is [landed](Self::land_skip).
    fn skip_if(&mut self, test: Test) -> usize;

    /// Jumps back to this offset if a condition holds.
    fn back_if(&mut self, test: Test, to: usize);

    /// Makes a skip lead here.
    fn land_skip(&mut self, from: usize);

    /// Notes the number of an exit's record, for [`store_state`](Self::store_state), and jumps to a block. Changes no register that
    /// may hold a value.
    fn leave_noting(&mut self, record: u32, to: Block);

    /// Calls the machine's stub that stores the values of the noted record ([`Records::leave`]). Leaves the exit's status and the
    /// record's first value in the result registers, and the stack pointer as it was before the record was noted.
    fn store_state(&mut self, records: *const Records);
}
