//! The ways into an inlined function, back to its caller, and out of the code from there.
//!
//! In: an inlined call, and the bits of its arguments or its result. Out: an edge on which the callee's registers have their first values,
//! or on which the caller's register has the result. An exit takes all registers of inlined functions along that are live, and those of the
//! callers around: it does not count on the slots of those frames that are shown.

use super::FunctionScratch;
use super::cursor::Cursor;
use super::show::{ShowNodes, ShownFrames};
use super::values::{Needs, ValueOperands};
use crate::ir::frames::{ShowPlan, ShownFrame};
use crate::ir::index::Node;
use crate::ir::inlining::InlinedFrame;
use crate::ir::state::StateRegister;
use crate::vocab::Type;

impl ValueOperands<'_> {
    /// The inlined call that a bytecode belongs to; `None` if it is the function's own.
    pub(super) fn inlined_call(&self, at: u32) -> Option<u32> {
        Some(self.scratch.code.plan.frame(at as usize)).filter(|frame| *frame > 0)
    }

    /// Sets the registers that are live at the start of an inlined function to the arguments, and goes there. As in other calls, those
    /// whose argument is missing get the value for that, and all others zero.
    pub(super) fn give_arguments(&mut self, cursor: &mut Cursor<'_>, call: u32, args: &[Node]) {
        let plan = &self.scratch.code.plan;
        let (to, registers) = (plan.first(call), plan.registers(call));
        let source = self.source;
        let callee = plan.owner_of(source, call);
        self.set_registers(cursor, (registers, to), callee, |_, number| args.get(number as usize).copied());
        self.may_be_unreached = true;
        self.jump_into(cursor, to, to);
    }

    /// Leaves an inlined function with a result, and goes on behind the call.
    pub(super) fn leave_inlined(&mut self, cursor: &mut Cursor<'_>, call: u32, value: Option<Node>) {
        let (to, result) = self.scratch.code.plan.way_back(call);
        if let Some((register, ret)) = result {
            let home = self.scratch.registers.home(register);
            let value = match value {
                Some(value) if cursor.ty(value) == ret => value,
                Some(value) => {
                    let bits = cursor.widen(value);
                    cursor.bits_as(bits, ret)
                }
                None => cursor.constant(ret, 0),
            };
            let value = if home == ret { value } else { cursor.widen(value) };
            self.set_register(cursor, register, value);
        }
        let at = cursor.at as usize;
        self.jump_into(cursor, at + 1, to);
    }

    /// How a frame is shown to a call of one of its bytecodes: the function's own, or an inlined one.
    pub(super) fn frame_to_show(
        &mut self,
        cursor: &mut Cursor<'_>,
        frame: u32,
        bytecode: u32,
    ) -> Option<ShowNodes> {
        let plan = &self.scratch.code.plan;
        let functions = &plan.owner_of(self.source, frame).functions;
        let ShowPlan { newest, layout, slot } = functions.show?;
        let first = if frame > 0 { plan.registers(frame).start } else { 0 };
        let layout = if self.source.functions.only_read { layout | ShownFrame::ONLY_READ } else { layout };
        let shown = self.slot_address(cursor, first + slot);
        let [newest, layout, bytecode] =
            [newest, layout, bytecode as u64].map(|bits| cursor.constant(Type::I64, bits));
        Some(ShowNodes { newest, shown, layout, bytecode, around: None })
    }

    /// Shows the frames of those callers around an inlined function whose calls observe.
    pub(super) fn show_callers(&mut self, cursor: &mut Cursor<'_>, frame: u32) -> Option<ShownFrames> {
        let plan = &self.scratch.code.plan;
        let mut calls: Vec<InlinedFrame> = plan.inlining.around(frame).copied().collect();
        calls.reverse();
        let mut around = None;
        for InlinedFrame { caller, call, shown, .. } in calls {
            if let Some(number) = shown
                && let Some(frame) = self.frame_to_show(cursor, caller, call)
            {
                around = Some(ShownFrames::add(around, cursor, &frame, number));
            }
        }
        around
    }

    /// Jumps to a bytecode of another frame; all before `first` are outside of the loops that this enters.
    pub(super) fn jump_into(&mut self, cursor: &mut Cursor<'_>, first: usize, to: usize) {
        self.prepare_loop(cursor, first, to);
        let leader = self.scratch.leaders[to];
        self.jump(cursor, leader, Needs::At(to));
    }

    /// Adds the values of the registers of a frame, and of those around it but the function's own, to those that an exit takes along.
    pub(super) fn save_inlined(
        &mut self,
        cursor: &mut Cursor<'_>,
        frame: u32,
        needs: Needs,
        values: &mut Vec<Node>,
    ) {
        let FunctionScratch { code, liveness, registers, .. } = &mut *self.scratch;
        let around = code.plan.inlining.around(frame);
        let mut frames: Vec<_> = around.map(|frame| (frame.first_register, frame.slots)).collect();
        // Callers have the lower registers.
        frames.reverse();
        for register in frames.into_iter().flat_map(|(first, slots)| first..first + slots) {
            let is_needed = match needs {
                Needs::At(at) => liveness.is_needed(register, at),
                Needs::Within | Needs::All => registers.is_used(register),
            };
            if is_needed {
                cursor.graph.states.registers.push(StateRegister::plain(register));
                values.push(registers.read(register));
            }
        }
    }
}
