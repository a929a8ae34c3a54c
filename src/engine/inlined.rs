//! Exits from inlined functions: the frames that are left run to their ends, from the innermost to the outermost.
//!
//! In: code that was left in the middle of an inlined function. Out: the slots of the function that was compiled, with the result of its
//! call, so that it goes on behind that. The inlined functions get frames of the engine's stack for it. What they are
//! in did not cost any room before; so calls that nest too deep may fail here. Callers whose calls observe are shown while they wait.

use super::function::Function;
use super::native::take_inlined;
use super::run::{End, Resume};
use super::tiers::Tier;
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::inlining::{LeftFrame, LeftFrames};
use azulejo_core::vocab::Trap;

impl<B: Bytecode> Engine<B> {
    /// Runs the inlined functions that control has left, and stores the result of the outermost in the slots of the function that calls
    /// it.
    pub(super) fn finish_inlined(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
    ) -> Result<(), Error> {
        let LeftFrames { frames, is_miss } = take_inlined();
        self.count_left(function, &frames, is_miss)?;
        let finished = self.finish_called(function, slots, &frames, context);
        finished.map_err(|error| self.failed(function, Trap::from(error), frames[0].call))
    }

    /// Runs a function to its end, after an exit from its code for calls in the middle of an inlined function, behind which it goes on at a
    /// bytecode.
    pub(super) fn resume_inlined(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<End, Error> {
        self.finish_inlined(function, context, slots)?;
        self.run_on(function, context, slots, at, Resume::Interpreter)
    }

    /// Counts why the code was left. A miss counts for the function whose code it is, and is noted for the one whose slow path is missing.
    fn count_left(&self, function: &Function<B>, frames: &[LeftFrame], is_miss: bool) -> Result<(), Error> {
        let Some(&LeftFrame { function: number, at, .. }) = frames.last() else { return Ok(()) };
        let innermost = self.running(FunctionId(number))?.body();
        if !is_miss {
            self.counts.exited(innermost.ops()[at as usize].opcode());
            return Ok(());
        }
        self.counts.missed();
        innermost.speculation.slow_paths().note_miss(at);
        if function.body().speculation.count_miss() {
            self.discard_optimized(function);
        }
        Ok(())
    }

    /// Runs the first of these functions to its end, in a frame of its own, when those behind it have ended. The caller waits for it, and
    /// gets its result in its slots.
    fn finish_called(
        &self,
        caller: &Function<B>,
        slots: *mut u64,
        frames: &[LeftFrame],
        context: *mut B::Context,
    ) -> Result<(), Error> {
        let Some((left, inner)) = frames.split_first() else { return Ok(()) };
        let function = self.running(FunctionId(left.function))?;
        let here = 0u8;
        let frame = self.take_frame(function.body().slots(), (&raw const here).addr(), context)?;
        for &(register, bits) in &left.registers {
            // SAFETY: the frame has this register, and nothing else refers to it yet.
            unsafe { frame.slots().add(register as usize).write(bits) };
        }
        let shown = left.shown.and_then(|call| Some((caller.body().show_plan()?, call)));
        if let Some((plan, call)) = shown {
            // SAFETY: the caller's frame has room for it, and the registers that are alive behind the call in its slots.
            unsafe { plan.show(slots, left.call, call) };
        }
        if let Err(error) = self.finish_called(function, frame.slots(), inner, context) {
            self.note(function.number(), inner[0].call);
            return Err(error);
        }
        self.look_for_stop(function, left.at)?;
        let end = self.run_on(function, context, frame.slots(), left.at, Resume::Interpreter)?;
        drop(frame);
        let value = self.run_next(end, context, Tier::Optimizer)?;
        if let Some((plan, _)) = shown {
            // SAFETY: it is shown, and all that was shown later is gone.
            unsafe { plan.hide(slots) };
        }
        if let Some((register, ty)) = left.result {
            // SAFETY: the caller has this register.
            unsafe { slots.add(register as usize).write(ty.truncate(value)) };
        }
        Ok(())
    }
}
