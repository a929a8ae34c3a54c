//! Registers: eight for integers and eight for floats are given out; three more are the machine's own.

use azulejo_core::ir::template::Convention;
use azulejo_core::target::{Abi, Reg, RegSet, RegisterFile};

macro_rules! registers {
    ($($name:ident = $class:ident $number:literal $text:literal),* $(,)?) => {
        $(#[allow(missing_docs, reason = "named as it is")] pub const $name: Reg = Reg::$class($number);)*

        /// What it is called in dumps.
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
    F0 = float 0 "f0", F1 = float 1 "f1", F2 = float 2 "f2", F3 = float 3 "f3",
    F4 = float 4 "f4", F5 = float 5 "f5", F6 = float 6 "f6", F7 = float 7 "f7",
    FTEMP = float 8 "ftemp",
}

/// How many of each class there are, the machine's own among them.
pub const COUNT: usize = 12;

/// Where baseline code keeps the context, the slots, and `(cu)` in functions that want it.
pub(crate) const KEPT: [Reg; 3] = [X5, X6, X7];

/// What a function must give back as it was.
pub const CALLEE_SAVED: RegSet = RegSet::of(&[X5, X6, X7, F6, F7]);

const CALLER_SAVED: RegSet = RegSet::of(&[X0, X1, X2, X3, X4, F0, F1, F2, F3, F4, F5]);

/// All that are given out.
pub static REGISTERS: RegisterFile = RegisterFile {
    int: &[X0, X1, X2, X3, X4, X5, X6, X7],
    float: &[F0, F1, F2, F3, F4, F5, F6, F7],
    callee_saved: CALLEE_SAVED,
    name,
    abi,
};

/// The same without the one in which baseline code keeps `(cu)`, which is also without a frame pointer: there is no chain of frames.
pub(crate) static STENCIL_REGISTERS: RegisterFile =
    RegisterFile { int: &[X0, X1, X2, X3, X4, X5, X6], ..REGISTERS };

/// Functions of the host, whatever their convention is: the simulator calls them by their own.
static HOST: Abi = Abi {
    int_args: &[X0, X1, X2, X3, X4],
    float_args: &[F0, F1, F2],
    by_position: false,
    shadow: 0,
    int_ret: X0,
    float_ret: F0,
    caller_saved: CALLER_SAVED,
};

/// One function of bytecode calls another: the callee's cell is in `x1`, the number of arguments in `x2`. `x1` says afterwards
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

/// Where calls between functions of bytecode have their first arguments.
pub(crate) const ARGUMENTS: [Reg; 2] = [X3, X4];

fn abi(convention: Convention) -> &'static Abi {
    match convention {
        Convention::Bytecode => &BYTECODE,
        _ => &HOST,
    }
}
