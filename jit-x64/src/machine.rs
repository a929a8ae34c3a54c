//! The data that installing and unwinding code takes on this machine.

use crate::frame::SAVE_ORDER;
use crate::regs::{
    INTERPRETER_REGISTERS, PINNING_REGISTERS, PINNING_REGISTERS_BUT_RBP, RBP, REGISTERS, REGISTERS_BUT_RBP,
    RSP, STENCIL_REGISTERS, STENCIL_REGISTERS_BUT_RBP,
};
use azulejo_code::Field;
use azulejo_code::machine::{Machine, Registers, Signals, Unwinding};
use azulejo_core::target::Reg;

/// The byte that fills memory without code: `int3`, which traps.
pub(crate) const FILLER: u8 = 0xcc;

/// x86-64 in 64-bit mode.
pub static MACHINE: Machine = Machine {
    elf: 62,
    filler: [FILLER; 4],
    reach: i32::MAX as u64,
    unit: 1,
    immediates: &IMMEDIATES,
    // Distances count from behind their four bytes, which are the last of an instruction.
    named: (Field::WORD, 4),
    unwinding: Unwinding {
        dwarf,
        return_address: 16,
        pushed_by_calls: 8,
        stack_pointer: RSP,
        frame_pointer: RBP,
        saved: &SAVE_ORDER,
    },
    signals: SIGNALS,
    registers: Registers {
        all: &REGISTERS,
        but_frame_pointer: &REGISTERS_BUT_RBP,
        for_stencils: [&STENCIL_REGISTERS, &STENCIL_REGISTERS_BUT_RBP],
        for_pinning: [&PINNING_REGISTERS, &PINNING_REGISTERS_BUT_RBP],
        for_interpreters: Some(&INTERPRETER_REGISTERS),
    },
};

/// Whole constants, the halves of those that are stored in two steps, and bytes of which only the lowest bits count, such as a
/// shift's count.
const IMMEDIATES: [Field; 9] = {
    const fn low(bits: u8) -> Field {
        Field { bytes: 1, first: 0, width: bits, shift: 0 }
    }
    [Field::LONG, Field::WORD, Field::UPPER_WORD, low(3), low(4), low(5), low(6), low(7), low(8)]
};

/// The DWARF number of a register.
pub(crate) fn dwarf(reg: Reg) -> u8 {
    match reg.number() {
        1 => 2,
        2 => 1,
        4 => 7,
        5 => 6,
        6 => 4,
        7 => 5,
        other => other,
    }
}

#[cfg(target_os = "linux")]
const SIGNALS: Option<Signals> =
    Some(Signals { program_counter: signals::program_counter, land: signals::land });
#[cfg(not(target_os = "linux"))]
const SIGNALS: Option<Signals> = None;

#[cfg(target_os = "linux")]
mod signals {
    use azulejo_code::machine::Landing;
    use core::ffi::c_void;
    use libc::{REG_RAX, REG_RDX, REG_RIP, greg_t, ucontext_t};

    pub(super) unsafe fn program_counter(context: *const c_void) -> usize {
        // SAFETY: the caller has the context from the system.
        let registers = unsafe { &(*context.cast::<ucontext_t>()).uc_mcontext.gregs };
        registers[REG_RIP as usize] as usize
    }

    pub(super) unsafe fn land(context: *mut c_void, landing: &Landing) {
        // SAFETY: as above, and no other code accesses it while the thread is interrupted.
        let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
        registers[REG_RIP as usize] = landing.at as greg_t;
        registers[REG_RAX as usize] = landing.first as greg_t;
        registers[REG_RDX as usize] = landing.second as greg_t;
    }
}
