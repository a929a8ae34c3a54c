//! Exits from inlined functions: the frames that are left run to their ends, from the innermost to the outermost.
//!
//! In: code that was left in the middle of an inlined function. Out: the slots of the function that was compiled, with the result of its
//! call, so that it goes on behind that. The inlined functions get frames of the engine's stack for it, one after the other. What they are
//! in did not cost any room before; so calls that nest too deep may fail here.

use super::function::Function;
use super::native::take_inlined;
use super::run::{End, Resume, as_trap};
use super::tiers::Tier;
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::inlining::{LeftFrame, LeftFrames};

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
        // The register that gets the result of the call before, and the result.
        let mut result = None;
        for (number, left) in frames.iter().enumerate().rev() {
            match self.finish_frame(left, result, context) {
                Ok(value) => result = left.result.map(|(register, ty)| (register, ty.truncate(value))),
                Err(error) => return Err(self.fail_callers(function, &frames[..=number], &error)),
            }
        }
        if let Some((register, value)) = result {
            // SAFETY: the function has this register.
            unsafe { slots.add(register as usize).write(value) };
        }
        Ok(())
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

    /// Runs an inlined function to its end. It has called another one, if there is a result for one of its registers.
    fn finish_frame(
        &self,
        left: &LeftFrame,
        result: Option<(u32, u64)>,
        context: *mut B::Context,
    ) -> Result<u64, Error> {
        let function = self.running(FunctionId(left.function))?;
        let caller = 0u8;
        let frame = self.stack.enter(function.body().slots(), (&raw const caller).addr())?;
        for &(register, bits) in left.registers.iter().chain(&result) {
            // SAFETY: the frame has this register, and nothing else refers to it yet.
            unsafe { frame.slots().add(register as usize).write(bits) };
        }
        self.look_for_stop(function, left.at)?;
        let end = self.run_on(function, context, frame.slots(), left.at, Resume::Interpreter)?;
        drop(frame);
        self.run_next(end, context, Tier::Optimizer)
    }

    /// The innermost of these frames has failed: so do its callers.
    fn fail_callers(&self, function: &Function<B>, frames: &[LeftFrame], error: &Error) -> Error {
        let called = std::iter::zip(frames, &frames[1..]);
        called.rev().for_each(|(caller, left)| self.note(caller.function, left.call));
        self.failed(function, as_trap(error), frames[0].call)
    }
}
