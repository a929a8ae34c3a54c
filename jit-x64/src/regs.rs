//! The registers of x86-64.

use crate::abi;
use azulejo_core::pass::MAX_PINNED;
use azulejo_core::target::{Reg, RegSet, RegisterFile};

macro_rules! registers {
    ($($name:ident = $make:ident $number:literal $text:literal),* $(,)?) => {
        $(
            #[doc = concat!("`", $text, "`")]
            pub const $name: Reg = Reg::$make($number);
        )*

        /// The name of a register.
        pub fn name(reg: Reg) -> &'static str {
            match reg {
                $($name => $text,)*
                _ => "?",
            }
        }
    };
}

registers! {
    RAX = int 0 "rax", RCX = int 1 "rcx", RDX = int 2 "rdx", RBX = int 3 "rbx",
    RSP = int 4 "rsp", RBP = int 5 "rbp", RSI = int 6 "rsi", RDI = int 7 "rdi",
    R8 = int 8 "r8", R9 = int 9 "r9", R10 = int 10 "r10", R11 = int 11 "r11",
    R12 = int 12 "r12", R13 = int 13 "r13", R14 = int 14 "r14", R15 = int 15 "r15",
    XMM0 = float 0 "xmm0", XMM1 = float 1 "xmm1", XMM2 = float 2 "xmm2", XMM3 = float 3 "xmm3",
    XMM4 = float 4 "xmm4", XMM5 = float 5 "xmm5", XMM6 = float 6 "xmm6", XMM7 = float 7 "xmm7",
    XMM8 = float 8 "xmm8", XMM9 = float 9 "xmm9", XMM10 = float 10 "xmm10", XMM11 = float 11 "xmm11",
    XMM12 = float 12 "xmm12", XMM13 = float 13 "xmm13", XMM14 = float 14 "xmm14", XMM15 = float 15 "xmm15",
}

/// The callee-saved registers of compiled code, whose entry is a System V function on every system.
pub const CALLEE_SAVED: RegSet = RegSet::of(&[RBX, RBP, R12, R13, R14, R15]);

/// All registers but the stack pointer. Caller-saved registers come first, and in each group those with the shortest encodings.
pub static REGISTERS: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBX, RBP, R12, R13, R14, R15],
    float: &[
        XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7, XMM8, XMM9, XMM10, XMM11, XMM12, XMM13, XMM14, XMM15,
    ],
    callee_saved: CALLEE_SAVED,
    kept: RegSet::EMPTY,
    name,
    abi: abi::of,
};

/// Where baseline code and interpreted code keep context and frame.
const CONTEXT_AND_FRAME: RegSet = RegSet::of(&[R12, RBX]);

/// Where baseline code keeps `(cu)`, in functions that need it.
pub(crate) const KEPT_CU: Reg = R13;

/// All registers but the stack pointer and the frame pointer.
pub static REGISTERS_BUT_RBP: RegisterFile =
    RegisterFile { int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBX, R12, R13, R14, R15], ..REGISTERS };

/// All registers but the stack pointer, [`KEPT_CU`], and those of context and frame.
pub(crate) static STENCIL_REGISTERS: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBP, R14, R15],
    kept: CONTEXT_AND_FRAME,
    ..REGISTERS
};

/// Where baseline code keeps constants that the bytecode type pins.
pub(crate) const PINNED: [Reg; MAX_PINNED] = [R14, R15];

/// All registers but the stack pointer, [`KEPT_CU`], [`PINNED`], and those of context and frame.
pub(crate) static PINNING_REGISTERS: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBP],
    kept: CONTEXT_AND_FRAME.union(RegSet::of(&PINNED)),
    ..REGISTERS
};

/// [`PINNING_REGISTERS`] without the frame pointer.
pub(crate) static PINNING_REGISTERS_BUT_RBP: RegisterFile =
    RegisterFile { int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11], ..PINNING_REGISTERS };

/// Where interpreted code keeps the bytecode's address, its function's record, and the table of opcodes or the top of the operand
/// stack.
pub(crate) const INTERPRETED: [Reg; 3] = [R13, R14, R15];

/// All registers but the stack pointer, the frame pointer, [`INTERPRETED`], and those of context and frame.
pub(crate) static INTERPRETER_REGISTERS: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11],
    kept: CONTEXT_AND_FRAME.union(RegSet::of(&INTERPRETED)),
    ..REGISTERS
};

/// [`STENCIL_REGISTERS`] without the frame pointer.
pub(crate) static STENCIL_REGISTERS_BUT_RBP: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, R14, R15],
    kept: CONTEXT_AND_FRAME,
    ..REGISTERS
};
