//! Registers in their slots, where other code sees them: around calls that observe, while code has the address of a run or of the frame, and
//! in front of loops.
//!
//! In: a cursor in a template, and what is known of each register there. Out: stores in front of what may read slots, of registers whose
//! slots do not have their values, and loads behind what may write them. Holds afterwards: at a call that observes, the slots of the
//! registers that are alive behind it have their values. No slot gets a value twice.

use super::cursor::Cursor;
use super::liveness::Observed;
use super::values::ValueOperands;
use super::{FunctionScratch, SLOT_BYTES};
use crate::ir::bytecode::{OperandKind, run_of};
use crate::ir::index::Node;
use core::ops::Range;

impl ValueOperands<'_> {
    /// The address of a register's slot. The slots of inlined functions follow the function's own, in a memory of their own if others have
    /// made that.
    pub(super) fn slot_address(&mut self, cursor: &mut Cursor<'_>, register: u32) -> Node {
        let (frame, slot) = match register.checked_sub(self.source.slots) {
            Some(inlined) if self.source.call_entry.is_none() => (self.own_memory(cursor), inlined),
            _ => (self.frame(cursor), register),
        };
        cursor.address(frame, slot as u64 * SLOT_BYTES)
    }

    /// Gives a register a value, which has the type that is at home there.
    pub(super) fn set_register(&mut self, cursor: &mut Cursor<'_>, register: u32, value: Node) {
        if self.scratch.registers.is_captured(register) {
            self.store_whole(cursor, register, value);
        } else {
            self.scratch.registers.write(register, value);
        }
    }

    /// Stores a value in the whole slot of a register, with zeros above a narrow one.
    fn store_whole(&mut self, cursor: &mut Cursor<'_>, register: u32, value: Node) {
        let shown = self.source.slots + self.scratch.code.plan.inlining.shown_slots;
        debug_assert!(register < shown, "the plan has no memory for a frame that is shown");
        let value = if cursor.ty(value).bits() < 64 { cursor.widen(value) } else { value };
        let address = self.slot_address(cursor, register);
        cursor.store(address, value);
    }

    /// Stores a register's value in its slot, unless it is there.
    pub(super) fn store(&mut self, cursor: &mut Cursor<'_>, register: u32) {
        let registers = &self.scratch.registers;
        // What nobody writes is always there, even if it is not known where nobody reads it.
        if !registers.is_dirty(register) || registers.is_stored(register) {
            return;
        }
        let value = self.scratch.registers.read(register);
        self.store_whole(cursor, register, value);
        self.scratch.registers.set_stored(register);
    }

    /// Loads a register's value from its slot.
    pub(super) fn reload(&mut self, cursor: &mut Cursor<'_>, register: u32) {
        if !self.scratch.registers.is_captured(register) {
            let value = self.load_slot(cursor, register);
            self.scratch.registers.loaded(register, value);
        }
    }

    /// What is in a register's slot.
    pub(super) fn load_slot(&mut self, cursor: &mut Cursor<'_>, register: u32) -> Node {
        let ty = self.scratch.registers.home(register);
        let address = self.slot_address(cursor, register);
        cursor.load(ty, address)
    }

    /// Prepares for a call that observes: stores the registers that are alive behind it.
    pub(super) fn store_shown(&mut self, cursor: &mut Cursor<'_>) {
        if self.scratch.liveness.shows_all(cursor.at as usize) {
            return self.expose(cursor);
        }
        for index in 0..self.scratch.shown.len() {
            let register = self.scratch.shown[index];
            if !self.is_in_window(cursor.at, register) {
                self.store(cursor, register);
            }
        }
    }

    /// Behind a call that observes: the registers have the values that it has left in the slots, if it may have written there.
    pub(super) fn reload_shown(&mut self, cursor: &mut Cursor<'_>) {
        if self.is_exposed {
            return self.reload_all(cursor);
        }
        if !self.source.functions.only_read {
            for index in 0..self.scratch.shown.len() {
                self.reload(cursor, self.scratch.shown[index]);
            }
        }
    }

    /// Stores all registers. From here to the template's end they are in their slots, where other code may access them at any time.
    pub(super) fn expose(&mut self, cursor: &mut Cursor<'_>) {
        if core::mem::replace(&mut self.is_exposed, true) {
            return;
        }
        for index in 0..self.scratch.flushes.len() {
            let register = self.scratch.flushes[index];
            if !self.is_in_window(cursor.at, register) {
                self.store(cursor, register);
            }
        }
    }

    fn reload_all(&mut self, cursor: &mut Cursor<'_>) {
        for register in 0..self.source.slots {
            if self.scratch.registers.is_used(register) {
                self.reload(cursor, register);
            }
        }
    }

    /// Prepares for a template that exposes slots on some paths only, and others than those that its calls see. These registers are
    /// reloaded after the template whichever path was taken, so slots must be up to date on the other paths as well.
    pub(super) fn store_shared(&mut self, cursor: &mut Cursor<'_>) {
        if self.scratch.liveness.shows_all(cursor.at as usize) {
            self.expose(cursor);
        } else if self.written_runs(cursor.at).next().is_some() {
            self.hand_out(cursor);
        }
    }

    /// Whether an edge to a bytecode enters a loop in which registers are seen each time. All bytecodes before `first` are outside of the
    /// loop.
    pub(super) fn enters_observed_loop(&self, first: usize, to: usize) -> bool {
        to >= first
            && self.scratch.is_head(self.source, to)
            && self.scratch.liveness.written_in_loop(to).observed == Observed::Quickly
    }

    /// Stores, on an edge into a loop, the registers that calls in the loop would otherwise store each time: those that it does not write. All
    /// bytecodes before `first` are outside of the loop.
    pub(super) fn store_for_loop(&mut self, cursor: &mut Cursor<'_>, first: usize, to: usize) {
        if !self.enters_observed_loop(first, to) {
            return;
        }
        let FunctionScratch { liveness, stored_for_loop, .. } = &mut *self.scratch;
        let written = liveness.written_in_loop(to).registers;
        let kept = liveness.needed(to).into_iter().filter(|register| !written.contains(*register));
        stored_for_loop.clear();
        stored_for_loop.extend(kept.map(|register| register as u32));
        for index in 0..self.scratch.stored_for_loop.len() {
            let register = self.scratch.stored_for_loop[index];
            // Others have no slots.
            if self.scratch.code.plan.shows(to, register) {
                self.store(cursor, register);
            }
        }
    }

    /// Stores the registers of all runs that the template may expose for writing; from here on these registers are in their
    /// slots. Only the first call stores them: afterwards the slots may have newer values.
    pub(super) fn hand_out(&mut self, cursor: &mut Cursor<'_>) {
        if self.has_window || self.is_exposed {
            return;
        }
        for operand in 0..self.n_operands(cursor.at) {
            if self.operand_kind(cursor.at, operand) == OperandKind::RegsMut {
                self.store_run(cursor, run_of(self.operand(cursor.at, operand)));
            }
        }
        self.has_window = true;
    }

    /// Stores the registers of a run in their slots, except those that are there already.
    pub(super) fn store_run(&mut self, cursor: &mut Cursor<'_>, run: Range<usize>) {
        for register in run {
            let register = register as u32;
            let is_there = self.is_exposed || self.is_in_window(cursor.at, register);
            if !is_there {
                self.store(cursor, register);
            }
        }
    }

    /// Whether a register is in a run whose address the template has exposed for writing.
    pub(super) fn is_in_window(&self, at: u32, register: u32) -> bool {
        self.has_window && self.written_runs(at).any(|run| run.contains(&(register as usize)))
    }

    /// The runs of registers that code outside the template may write while a bytecode executes.
    fn written_runs(&self, at: u32) -> impl Iterator<Item = Range<usize>> + use<'_> {
        let operands = self.source.opcodes[self.scratch.code.opcode(at as usize)].operands;
        let raws = self.scratch.code.operands(at as usize);
        let runs = core::iter::zip(operands, raws).filter(|(info, _)| info.kind == OperandKind::RegsMut);
        runs.map(|(_, &raw)| run_of(raw))
    }

    /// Where control leaves a template, reloads the registers from slots that were exposed for writing. All others have their values: a
    /// call that observes is followed by loads of its own.
    pub(super) fn reload_written(&mut self, cursor: &mut Cursor<'_>) {
        if self.is_exposed {
            return self.reload_all(cursor);
        }
        if !self.has_window {
            return;
        }
        for operand in 0..self.n_operands(cursor.at) {
            if self.operand_kind(cursor.at, operand) == OperandKind::RegsMut {
                for register in run_of(self.operand(cursor.at, operand)) {
                    self.reload(cursor, register as u32);
                }
            }
        }
    }
}
