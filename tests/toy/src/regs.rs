//! Registers: eight for integers and eight for floats are allocatable; the machine keeps five more for itself, and three are for
//! an interpreter. Baseline code pins constants in two of these.

use azulejo_core::ir::template::Convention;
use azulejo_core::pass::MAX_PINNED;
use azulejo_core::target::{Abi, Reg, RegSet, RegisterFile};

macro_rules! registers {
    ($($name:ident = $class:ident $number:literal $text:literal),* $(,)?) => {
        $(#[allow(missing_docs, reason = "named as it is")] pub const $name: Reg = Reg::$class($number);)*

        /// The register's name in dumps.
        fn name(reg: Reg) -> &'static str {
            match reg {
                $($name => $text,)*
                _ => "?",
            }
        }
    };
}

registers! {
    X0 = int 0 "x0", X1 = int 1 "x1", X2 = int 2 "x2", X3 = int 3 "x3",
    X4 = int 4 "x4", X5 = int 5 "x5", X6 = int 6 "x6", X7 = int 7 "x7",
    SP = int 8 "sp", LINK = int 9 "link", TEMP = int 10 "temp", FLAG = int 11 "flag",
    I0 = int 12 "i0", I1 = int 13 "i1", I2 = int 14 "i2",
    F0 = float 0 "f0", F1 = float 1 "f1", F2 = float 2 "f2", F3 = float 3 "f3",
    F4 = float 4 "f4", F5 = float 5 "f5", F6 = float 6 "f6", F7 = float 7 "f7",
    FTEMP = float 8 "ftemp",
}

/// How many registers each class has, including the machine's own.
pub const COUNT: usize = 15;

const _: () = assert!(COUNT <= 16, "instructions have four bits for a register");

/// Where baseline code keeps the context, the slots, and `(cu)` in functions that need it.
pub(crate) const KEPT: [Reg; 3] = [X5, X6, X7];

/// Where interpreted code keeps the bytecode's address, its function's record, and the table of opcodes or the top of the operand
/// stack. Baseline code keeps [pinned constants](PINNED) there.
pub(crate) const INTERPRETED: [Reg; 3] = [I0, I1, I2];

/// The callee-saved registers.
pub const CALLEE_SAVED: RegSet = RegSet::of(&[X5, X6, X7, F6, F7, I0, I1, I2]);

const CALLER_SAVED: RegSet = RegSet::of(&[X0, X1, X2, X3, X4, F0, F1, F2, F3, F4, F5]);

/// All allocatable registers.
pub static REGISTERS: RegisterFile = RegisterFile {
    int: &[X0, X1, X2, X3, X4, X5, X6, X7],
    float: &[F0, F1, F2, F3, F4, F5, F6, F7],
    callee_saved: CALLEE_SAVED,
    kept: RegSet::EMPTY,
    name,
    abi,
};

/// All but the register in which baseline code keeps `(cu)`. There is no chain of frames, so the set without the frame pointer
/// is the same.
pub(crate) static STENCIL_REGISTERS: RegisterFile =
    RegisterFile { int: &[X0, X1, X2, X3, X4, X5, X6], ..REGISTERS };

/// Where baseline code keeps constants that the bytecode type pins: in two of the registers that otherwise only interpreted code uses.
pub(crate) const PINNED: [Reg; MAX_PINNED] = [I0, I1];

/// Those for stencils in which constants are pinned.
pub(crate) static PINNING_REGISTERS: RegisterFile =
    RegisterFile { kept: RegSet::of(&PINNED), ..STENCIL_REGISTERS };

/// Functions of the host. The simulator calls each by its own convention.
static HOST: Abi = Abi {
    int_args: &[X0, X1, X2, X3, X4],
    float_args: &[F0, F1, F2],
    by_position: false,
    shadow: 0,
    int_ret: X0,
    float_ret: F0,
    caller_saved: CALLER_SAVED,
};

/// Calls between functions of bytecode: the callee's cell is in `x1`, the number of arguments in `x2`. Afterwards `x1` says
/// whether there is a result.
static BYTECODE: Abi = Abi {
    int_args: &[X0, X3, X4],
    float_args: &[],
    by_position: false,
    shadow: 0,
    int_ret: X0,
    float_ret: F0,
    caller_saved: CALLER_SAVED,
};

/// The registers of the first arguments in calls between functions of bytecode.
pub(crate) const ARGUMENTS: [Reg; 2] = [X3, X4];

fn abi(convention: Convention) -> &'static Abi {
    match convention {
        Convention::Bytecode => &BYTECODE,
        _ => &HOST,
    }
}
