//! The data that installing code takes on this machine.

use crate::instruction::{FAR, IMMEDIATES};
use crate::regs::*;
use azulejo_code::machine::{Machine, Registers, Unwinding};
use azulejo_core::target::Reg;

/// The machine.
pub static MACHINE: Machine = Machine {
    elf: 0,
    filler: [0; 4],
    reach: 1 << 27,
    unit: 4,
    immediates: &IMMEDIATES,
    // Distances count from the instruction's start.
    named: (FAR, 0),
    unwinding: Unwinding {
        dwarf: Reg::number,
        return_address: LINK.number(),
        pushed_by_calls: 0,
        stack_pointer: SP,
        frame_pointer: X7,
        saved: &crate::frame::SAVE_ORDER,
    },
    signals: None,
    registers: Registers {
        all: &REGISTERS,
        but_frame_pointer: &STENCIL_REGISTERS,
        for_stencils: [&STENCIL_REGISTERS, &STENCIL_REGISTERS],
        for_pinning: [&PINNING_REGISTERS, &PINNING_REGISTERS],
        for_interpreters: Some(&REGISTERS),
    },
};
