//! A program as the interpreter in machine code runs it.
//!
//! In: an interpreter, and a program. Out: the program's record, and its run as a caller sees it that looks what it gets back.

use crate::machine::{Op, Vm};
use crate::run::{Verified, unit};
use crate::subject::Subject;
use azulejo_code::Interpreter;
use azulejo_code::status::Status;
use azulejo_core::ir::interpreted::{Record, RecordParts};
use azulejo_core::pass::build::Linkage;
use std::cell::Cell;

/// An interpreter, and a program's record.
pub struct Interpreted<M: Subject> {
    interpreter: Interpreter<Op, M>,
    record: Record,
    /// How many jumps back it may make; it never makes so many. The record has the address.
    _budget: Box<Cell<i32>>,
}

impl<M: Subject> std::fmt::Debug for Interpreted<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreted").finish_non_exhaustive()
    }
}

impl<M: Subject> Interpreted<M> {
    pub(crate) fn new(
        interpreter: Interpreter<Op, M>,
        program: &Verified,
        functions: Linkage<'_>,
    ) -> Interpreted<M> {
        let code = program.code();
        assert!(interpreter.prepare(&code.ops), "its opcodes are told by their first byte");
        let budget = Box::new(Cell::new(i32::MAX));
        let slow_paths = program.slow_paths();
        let parts = RecordParts {
            show: None,
            code: code.ops.as_ptr().cast(),
            labels: code.labels.as_ptr(),
            unit: unit(),
            functions: functions.table,
            slow_paths: slow_paths.address(),
            budget: budget.as_ptr().cast_const(),
            stop: functions.stop.unwrap_or(0),
            fuel: functions.fuel.unwrap_or(0),
            taken_arguments: 0,
            drops_surplus: false,
            missing: 0,
            slots: 0,
            cleared: 0,
            registers: 0,
        };
        // SAFETY: the interpreter was prepared for the program.
        let record = unsafe { interpreter.record(&parts) };
        Interpreted { interpreter, record, _budget: budget }
    }

    /// Runs the program from its start.
    ///
    /// # Safety
    ///
    /// The frame must be the program's, with this many registers.
    pub(crate) unsafe fn run(
        &self,
        context: *mut Vm,
        slots: *mut u64,
        registers: u32,
    ) -> Result<Status, &'static str> {
        // SAFETY: the interpreter was prepared for the program, and the caller promises the rest.
        unsafe {
            self.interpreter.enter_by(&self.record, slots, (0, registers), |entry, third| {
                M::enter_closely(entry, context.cast(), slots, third)
            })
        }
    }
}
