//! What compiled code asks the engine when one function of bytecode calls another.
//!
//! In: a call of a function that has no code for it, or whose code was left before its end. Out: the result, or where there
//! is code now. Calls that find code do not come here.

use super::Engine;
use super::function::{Function, FunctionId};
use super::links::Links;
use super::run::{as_trap, failed};
use super::tiers::Tier;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::pass::build::MAX_ARGUMENTS;
use azulejo_core::vocab::Trap;
use azulejo_x64::invoke::{Behind, MAX_SLOTS};
use azulejo_x64::record::{Arrival, Outcome, Record};
use azulejo_x64::{RawStatus, Status};
use std::rc::Rc;

/// Records for functions of this bytecode.
pub(crate) fn links<B: Bytecode>() -> Links {
    Links::new(arrive::<B>, go_on::<B>)
}

/// The engine whose code runs.
///
/// # Safety
///
/// Only for a record of such an engine, while it runs code.
unsafe fn engine<'a, B: Bytecode>(record: &Record) -> &'a Engine<B> {
    // SAFETY: an outermost call says where the engine is, and borrows it until it ends.
    unsafe { &*record.host().owner().cast() }
}

unsafe extern "sysv64-unwind" fn arrive<B: Bytecode>(arrival: &mut Arrival) {
    // SAFETY: compiled code of the engine calls this.
    let engine: &Engine<B> = unsafe { engine(arrival.record()) };
    match engine.arrived(arrival) {
        Ok(Answer::Enter(entry)) => arrival.entry = entry,
        Ok(Answer::Done(value)) => arrival.end(Outcome { value, trap: 0 }),
        Err(error) => arrival.end(failure(&error)),
    }
}

unsafe extern "sysv64-unwind" fn go_on<B: Bytecode>(
    record: &Record,
    context: *mut (),
    frame: *mut u64,
    status: RawStatus,
) -> Outcome {
    // SAFETY: as above.
    let engine: &Engine<B> = unsafe { engine(record) };
    let result = engine.function(FunctionId(record.function())).and_then(|function| match status.into() {
        Status::Returned(value) => Ok(value),
        Status::Trapped { trap, at } => Err(failed(trap, at)),
        Status::Exited { at } => engine.exited(&function, context.cast(), frame, at),
    });
    match result {
        Ok(value) => Outcome { value, trap: 0 },
        Err(error) => failure(&error),
    }
}

fn failure(error: &Error) -> Outcome {
    Outcome { value: 0, trap: as_trap(error).code() as u64 }
}

/// What becomes of a call.
enum Answer {
    /// There is code.
    Enter(*const u8),
    /// The function was run.
    Done(u64),
}

impl<B: Bytecode> Engine<B> {
    fn arrived(&self, arrival: &Arrival) -> Result<Answer, Error> {
        let count = arrival.count();
        let function = self.function(FunctionId(arrival.record().function()))?;
        if function.is_used_up() {
            self.climb(&function, 0);
        }
        if function.has_code()
            && let Some(entry) = self.door_for(&function, count)
        {
            function.called(self.calls.get());
            return Ok(Answer::Enter(entry));
        }
        let mut bits = [0; MAX_ARGUMENTS];
        let bits = bits.get_mut(..count).ok_or(Error::Trap { trap: Trap::BadCall, at: 0 })?;
        bits.iter_mut().enumerate().for_each(|(at, bits)| *bits = arrival.argument(at));
        function.expect_arguments(count as u32);
        self.run(&function, arrival.context.cast(), &*bits, Tier::Optimizer).map(Answer::Done)
    }

    /// Where calls with so many arguments enter the best code of a function; `None` if they cannot.
    fn door_for(&self, function: &Function<B>, count: usize) -> Option<*const u8> {
        if !function.expect_arguments(count as u32) || function.slots() > MAX_SLOTS as usize {
            return None;
        }
        let links = self.links.borrow();
        let record = links.record(function.number());
        if !function.has_door() {
            let (code, third, stack_bytes) = match (function.compiled(), function.baseline()) {
                (Some(code), _) => (code.entry(), function.unit(), code.stack_bytes()),
                (None, Some(code)) => (code.entry(), code.address(0).cast(), code.stack_bytes()),
                (None, None) => return None,
            };
            let counts = function.compiled().is_none() && self.counts();
            let behind = Behind {
                arguments: count as u32,
                slots: function.slots() as u32,
                code,
                third,
                stack_bytes,
                budget: counts.then(|| function.budget().as_ptr().cast_const()),
                record,
            };
            let door = self.backend.borrow_mut().door(&behind).ok()?;
            record.open(Some(&door));
            function.set_door(Rc::new(door));
        }
        Some(record.entry())
    }
}
