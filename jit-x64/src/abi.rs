//! The calling conventions of x86-64, as data.

use crate::regs::*;
use azulejo_core::ir::template::Convention;
use azulejo_core::ir::tiles::resolve;
use azulejo_core::target::{Abi, RegSet};

const SYSV_SCRATCH: RegSet = RegSet::of(&[
    RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7, XMM8, XMM9,
    XMM10, XMM11, XMM12, XMM13, XMM14, XMM15,
]);
const WIN_SCRATCH: RegSet =
    RegSet::of(&[RAX, RCX, RDX, R8, R9, R10, R11, XMM0, XMM1, XMM2, XMM3, XMM4, XMM5]);

/// System V: integers and floats are counted separately.
pub static SYSV64: Abi = Abi {
    int_args: &[RDI, RSI, RDX, RCX, R8, R9],
    float_args: &[XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7],
    by_position: false,
    shadow: 0,
    int_ret: RAX,
    float_ret: XMM0,
    caller_saved: SYSV_SCRATCH,
};

/// Windows: the n-th argument takes the n-th register of its class; the callee owns 32 bytes of the stack.
pub static WIN64: Abi = Abi {
    int_args: &[RCX, RDX, R8, R9],
    float_args: &[XMM0, XMM1, XMM2, XMM3],
    by_position: true,
    shadow: 4,
    int_ret: RAX,
    float_ret: XMM0,
    caller_saved: WIN_SCRATCH,
};

/// Calls between functions of bytecode: the context goes before the arguments, the callee's call cell is in `rsi`, and the
/// number of arguments in `rax`. Afterwards `rdx` says whether there is a result. The callee may use `r11` before it has made
/// its frame.
pub static BYTECODE: Abi = Abi {
    int_args: &[RDI, RDX, RCX, R8, R9, R10],
    float_args: &[],
    by_position: false,
    shadow: 0,
    int_ret: RAX,
    float_ret: XMM0,
    caller_saved: SYSV_SCRATCH,
};

/// How many arguments [`BYTECODE`] passes in registers, without the context.
pub(crate) const REGISTER_ARGUMENTS: usize = BYTECODE.int_args.len() - 1;

/// The data of a convention on this system.
pub fn of(convention: Convention) -> &'static Abi {
    match resolve(convention) {
        Convention::Win64 => &WIN64,
        Convention::Bytecode => &BYTECODE,
        _ => &SYSV64,
    }
}
