//! The slow path of calls between functions of bytecode: the requests of compiled code to the engine.
//!
//! In: a call of a function that has no code for it, or whose code exited before its end. Out: the result, or the address of
//! code that exists now. Calls that find code do not come here.

use super::Engine;
use super::code::Surplus;
use super::function::call_state::{Arity, Entry, Route};
use super::function::{Function, FunctionId, Snapshot, TierCode};
use super::native::Compiled;
use super::native::Links;
use super::run::End;
use super::tiers::Tier;
use super::value::Args;
use super::worker::Purpose;
use crate::Error;
use crate::inside::Form;
use azulejo_code::call::{
    Accepts, Adapter, AdapterTarget, CallCell, HostFunctions, Outcome, Packing, TAIL_CALL, UnresolvedCall,
};
use azulejo_code::status::{RawStatus, Status};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Trap;
use std::marker::PhantomData;
use std::rc::Rc;

/// The most slots of a function that calls enter in machine code that interprets it: its frame takes less than a page of the
/// machine's stack.
const MOST_SLOTS: usize = 400;

/// Makes the call cells for functions of this bytecode.
pub(crate) fn links<B: Bytecode>() -> Links {
    Links::new::<Answers<B>>()
}

/// Returns the engine whose code is running.
///
/// # Safety
///
/// The call cell must belong to an engine of this bytecode, which must be running code.
unsafe fn engine<'a, B: Bytecode>(cell: &CallCell) -> &'a Engine<B> {
    // SAFETY: the outermost call has set the engine's address, and borrows the engine until it ends.
    unsafe { &*cell.host().owner().cast() }
}

/// Answers the requests of compiled code, for engines with this bytecode.
struct Answers<B>(PhantomData<B>);

impl<B: Bytecode> HostFunctions for Answers<B> {
    unsafe fn resolve(unresolved: &mut UnresolvedCall) {
        // SAFETY: this is called by compiled code of an engine with this bytecode.
        let engine: &Engine<B> = unsafe { engine(unresolved.cell()) };
        match engine.resolve_call(unresolved) {
            Ok(Answer::Enter(entry)) => unresolved.entry = entry,
            Ok(Answer::Redirected) => {}
            Ok(Answer::Done(End::Value(value))) => unresolved.end(Outcome { value, trap: 0 }),
            Ok(Answer::Done(End::Tail)) => unresolved.enter_next(),
            Err(error) => unresolved.end(failure(&error)),
        }
    }

    unsafe fn pack(call: &mut UnresolvedCall) {
        // SAFETY: as above.
        let engine: &Engine<B> = unsafe { engine(call.cell()) };
        if let Err(error) = engine.pack_arguments(call) {
            call.end(failure(&error));
        }
    }

    unsafe fn resume(cell: &CallCell, context: *mut (), frame: *mut u64, status: RawStatus) -> Outcome {
        // SAFETY: as above.
        let engine: &Engine<B> = unsafe { engine(cell) };
        let result = engine.running(FunctionId(cell.function())).and_then(|function| match status.into() {
            Status::Returned(value) => Ok(End::Value(value)),
            Status::Tailed => Ok(End::Tail),
            Status::Trapped { trap, at } => Err(engine.failed(function, trap, at)),
            // Code that interprets is left for other reasons than compiled code.
            Status::Exited { at } if !function.code.has_any() => {
                engine.resume_interpreted(function, context.cast(), frame, at)
            }
            Status::Exited { at } => engine.resume(function, context.cast(), frame, at, false),
            Status::Missed { at } => engine.resume(function, context.cast(), frame, at, true),
            Status::Inlined { at } => engine.resume_inlined(function, context.cast(), frame, at),
            Status::MovedOn { .. } => unreachable!("it was entered at its start"),
        });
        match result {
            Ok(End::Value(value)) => Outcome { value, trap: 0 },
            Ok(End::Tail) => Outcome { value: 0, trap: TAIL_CALL },
            Err(error) => failure(&error),
        }
    }

    unsafe fn note(cell: &CallCell, at: u32) {
        // SAFETY: as above.
        let engine: &Engine<B> = unsafe { engine(cell) };
        engine.note(cell.function(), at);
    }

    unsafe fn refuse(cell: &CallCell, context: *mut ()) -> u64 {
        // SAFETY: as above.
        let engine: &Engine<B> = unsafe { engine(cell) };
        Trap::from(engine.overflowed(context.cast())).code() as u64
    }
}

fn failure(error: &Error) -> Outcome {
    Outcome { value: 0, trap: Trap::from(*error).code() as u64 }
}

/// The arguments of an unresolved call.
struct CallArguments<'a>(&'a UnresolvedCall);

impl Args for CallArguments<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn store(self, frame: &mut [u64]) {
        frame[..self.0.count()].copy_from_slice(self.0.arguments());
    }
}

/// The outcome of a call's resolution.
enum Answer {
    /// The call continues at this code.
    Enter(*const u8),
    /// The call continues with other arguments, through another cell.
    Redirected,
    /// The engine has run the function.
    Done(End),
}

impl<B: Bytecode> Engine<B> {
    fn resolve_call(&self, unresolved: &mut UnresolvedCall) -> Result<Answer, Error> {
        let function = self.function(FunctionId(unresolved.cell().function()))?;
        let body = function.body();
        let is_placed = unresolved.cell().is_inner();
        let is_to_pack = body.surplus() == Surplus::Packed && !is_placed;
        if is_to_pack && unresolved.can_redirect(body.entry_arguments() as usize) {
            let (before, missing) = (body.most_arguments() as usize, body.missing());
            // From now on such calls do not come here.
            unresolved.cell().open_to_packing(Packing { before, missing });
            self.pack_arguments(unresolved)?;
            return Ok(Answer::Redirected);
        }
        let count = unresolved.count() as u32;
        let takes = is_placed || body.takes(count as usize);
        if takes || body.surplus() == Surplus::Dropped {
            if let Arity::Guessed(guess) = function.calls.arity()
                && guess != count
            {
                self.close(function);
            }
            let route = function.calls.observe(count);
            let entry = match route {
                Route::Entry => self.entry_for(function, count),
                Route::Fallback => self.fallback_entry(function),
                Route::Engine => None,
            };
            let may_open = route != Route::Engine;
            let entry = entry.or_else(|| may_open.then(|| self.open_to_interpreter(function))?);
            if let Some(entry) = entry {
                function.code.note_use(self.calls.get());
                return Ok(Answer::Enter(entry));
            }
        }
        let (context, arguments) = (unresolved.context.cast(), CallArguments(unresolved));
        let end = match is_placed {
            true => self.run_placed(function, context, arguments, Tier::Optimizer),
            false => self.run_alone(function, context, arguments, Tier::Optimizer),
        };
        end.map(Answer::Done)
    }

    /// Packs the surplus of a call through a cell that is open to that, and sends the call on with the value as its last argument, which is
    /// passed in a register as all others. The function is not looked up: each call of it comes here.
    #[inline]
    fn pack_arguments(&self, call: &mut UnresolvedCall) -> Result<(), Error> {
        let Packing { before, missing } = call.cell().packing();
        let (given, function) = (call.count(), FunctionId(call.cell().function()));
        let surplus = call.arguments().get(before..).unwrap_or_default();
        let packed = self.pack(function, call.context.cast(), surplus)?;
        let registers = call.registers();
        registers.iter_mut().take(before).skip(given).for_each(|register| *register = missing);
        registers[before] = packed;
        call.redirect(before + 1);
        Ok(())
    }

    /// Returns the address at which calls with `count` arguments enter a function; `None` if it is to be interpreted. Makes
    /// code for them, or better code, if the function is hot enough.
    fn entry_for(&self, function: &Function<B>, count: u32) -> Option<*const u8> {
        let may_be_optimized = function.code.has_baseline() && self.tiers.highest == Tier::Optimizer;
        let is_used_up = (function.tier.budget.is_used_up() || function.is_hot_by_loops())
            && (!may_be_optimized || self.is_worth_optimizing(function, 0));
        let is_hot = may_be_optimized && is_used_up;
        if is_hot {
            self.collect();
        }
        if is_hot || function.code.has_optimized(0) || self.tiers.lowest == Tier::Optimizer {
            if !function.tier.is_disabled() && self.may_be_direct(function) {
                self.compile_for_calls(function, count);
            }
            if let Some(code) = function.calls.direct() {
                return Some(code.entry());
            }
        }
        if is_used_up {
            self.tier_up(function, 0);
        }
        self.open_by_adapter(function, count);
        function.calls.is_open().then(|| self.links.borrow().code_cell(function.number()).entry())
    }

    /// Makes calls from other functions enter machine code that interprets a function without code. `None` if there is none, and if
    /// the engine has to look at each call: it does where functions are compiled before they run, and where they run on fuel.
    #[cold]
    pub(super) fn open_to_interpreter(&self, function: &Function<B>) -> Option<*const u8> {
        let is_interpreted = self.tiers.lowest == Tier::Interpreter || function.tier.is_disabled();
        if !is_interpreted
            || function.code.has_any()
            || function.calls.is_open()
            || function.tier.budget.is_used_up()
            || self.tank.is_some()
            || function.body().slots() > MOST_SLOTS
        {
            return None;
        }
        let interpreter = self.interpreter_for(function)?;
        let record = self.record(&interpreter, function)?;
        function.body().speculation.note_run();
        let links = self.links.borrow();
        let cell = links.code_cell(function.number());
        // SAFETY: the record is the function's and lives as long as it; whoever removes the function closes the cell.
        unsafe { cell.open_to_interpreter(record) }.then(|| {
            function.calls.open_to_interpreter();
            cell.entry()
        })
    }

    /// Makes the entry for calls from other functions, now that there is code.
    pub(super) fn prepare_for_calls(&self, function: &Function<B>) {
        if function.body().surplus() == Surplus::Packed {
            // The first call makes the cell by which the code is entered.
            return;
        }
        let count = match function.calls.arity() {
            Arity::Known(count) | Arity::Guessed(count) => count,
            Arity::Refused => return,
            Arity::Unknown => {
                let Some(count) = function.body().promised_arguments() else { return };
                function.calls.guess(count);
                count
            }
        };
        if function.code.has_optimized(0) && self.may_be_direct(function) {
            self.compile_for_calls_now(function, count);
        }
        self.open_by_adapter(function, count);
    }

    /// Whether code for calls can be compiled and has not been.
    fn may_be_direct(&self, function: &Function<B>) -> bool {
        !function.calls.is_direct() && !function.body().takes_address_of_frame()
    }

    /// Makes calls with `count` arguments enter the existing code by an adapter, if the entry is closed.
    fn open_by_adapter(&self, function: &Function<B>, count: u32) {
        if function.calls.is_open() || !function.code.has_any() {
            return;
        }
        match self.make_adapter(function, Accepts::Exactly(count)) {
            Ok(adapter) => {
                self.links.borrow().code_cell(function.number()).open(&adapter);
                function.calls.open(Entry::Adapter(adapter));
            }
            // There is code, but calls cannot enter it. No adapter is tried again before the code is discarded.
            Err(_) => {
                self.close(function);
                function.calls.refuse();
            }
        }
    }

    /// Like `entry_for`, but for calls with another number of arguments than the first call had. All of them enter by one
    /// adapter, which leads to code that was not compiled for calls.
    fn fallback_entry(&self, function: &Function<B>) -> Option<*const u8> {
        let Function { code, tier, calls, .. } = function;
        let is_hot = tier.budget.is_used_up() || tier.awaits_call();
        if is_hot || function.is_optimized() && !code.has_optimized(0) {
            self.tier_up(function, 0);
        }
        if self.tiers.lowest == Tier::Optimizer && !code.has_optimized(0) && !tier.is_disabled() {
            tier.compiled(self.compile_for(function, Tier::Optimizer, 0));
        }
        if !calls.has_fallback() && code.has_any() {
            match self.make_adapter(function, Accepts::UpTo(function.body().most_arguments())) {
                Ok(adapter) => {
                    self.links.borrow().code_cell(function.number()).open_fallback(&adapter);
                    calls.open_fallback(adapter);
                }
                Err(_) => calls.refuse(),
            }
        }
        calls.has_fallback().then(|| self.links.borrow().code_cell(function.number()).fallback())
    }

    /// Compiles a function for calls from other functions, here or on the worker thread. If that fails, they enter by an adapter.
    fn compile_for_calls(&self, function: &Function<B>, count: u32) {
        let cell: *const CallCell = self.links.borrow().code_cell(function.number());
        if function.code.has_baseline() && self.request(function, Purpose::Calls(count, cell)) {
            return;
        }
        self.compile_for_calls_now(function, count);
    }

    fn compile_for_calls_now(&self, function: &Function<B>, count: u32) {
        let code = self.watched(function, Form::CallEntry(count), |watch| {
            self.with_source(function, 0, |source, links| {
                let call = (count, function.body().unit(), links.code_cell(function.number()));
                self.backend.borrow_mut().call_entry(source, call, watch)
            })
        });
        if let Ok(code) = code {
            self.install_for_calls(function, code);
        }
    }

    /// Makes calls from other functions enter this code.
    pub(super) fn install_for_calls(&self, function: &Function<B>, code: Compiled) {
        self.close(function);
        // SAFETY: the code was compiled for this call cell.
        unsafe { self.links.borrow().code_cell(function.number()).open_to(code.entry()) };
        function.calls.open(Entry::Direct(Rc::new(code)));
        // Calls from outside still count.
        function.tier.begin_budget(self.tiers.threshold(Tier::Baseline));
    }

    /// Makes an adapter for the best code of a function.
    fn make_adapter(&self, function: &Function<B>, accepts: Accepts) -> Result<Adapter, Error> {
        self.making_room(|| {
            let (body, best) = (function.body(), function.code.best_at(0));
            let (code, budget) = match best.as_ref().ok_or(Error::NotCompiled)? {
                TierCode::Optimized(code) => (code.as_target(body.unit()), None),
                TierCode::Baseline(code) => (code.as_target(), self.counters(function)),
            };
            let links = self.links.borrow();
            let source = body.source(0, links.functions(), &Snapshot::NOTHING);
            let to = AdapterTarget {
                accepts,
                source: &source,
                needed: body.needed_at_start(&self.starts),
                code,
                budget: budget.map(|[calls, _]| calls.as_ptr().cast_const()),
                cell: links.code_cell(function.number()),
            };
            self.backend.borrow().adapter(&to)
        })
    }
}
