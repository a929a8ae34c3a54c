//! Interpretation in machine code.
//!
//! In: a function without compiled code, and the bytecode to resume at. Out: how the code was left, as for compiled code. Where
//! nothing can be compiled, where the builder says so, and where little is left of the stack, there is none, and the interpreter
//! that rustc compiled takes its place.

use super::function::{Budget, EngineWords, Function};
use super::native::{Interpreter, Status};
use super::tiers::Tiers;
use super::{Builder, Engine, stack};
use crate::{Error, saved};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::interpreted::{Record, RecordParts};

/// After how many calls and jumps back in all it pays to make the code that interprets, where each function soon tiers up. To make it
/// takes about as long as interpreting these in Rust does. Debug builds have no patience, so that tests run all code.
const PATIENCE: i32 = if cfg!(debug_assertions) { 0 } else { 50_000 };

/// The same if an earlier process has saved such code: then it is only put into memory.
const PATIENCE_IF_SAVED: i32 = PATIENCE / 10;

/// How patient an engine is with the interpreter in Rust. Where functions stay in the interpreter, each is looked at alone.
pub(super) fn patience(tiers: &Tiers) -> i32 {
    match tiers.tier_up() {
        true if saved::has_any() => PATIENCE_IF_SAVED,
        true => PATIENCE,
        false => 0,
    }
}

/// The engine's interpreter in machine code.
#[derive(Debug)]
pub(super) enum Interpreting<B> {
    /// No function has run yet, or what loops look at has changed.
    Unknown,
    /// There is none.
    InRust,
    /// Machine code.
    InCode(Interpreter<B>),
}

impl<B> Clone for Interpreting<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Interpreting<B> {}

impl Builder {
    /// Interprets functions with the interpreter that rustc has compiled, even where one in machine code could be made. The two do the
    /// same; this one needs no code memory, and takes two to three times as long.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn rust_interpreter(mut self, rust: bool) -> Self {
        self.machine.set_rust_interpreter(rust);
        self
    }
}

impl<B: Bytecode> Engine<B> {
    /// Called when what loops look at has changed: functions that run from now on run in other code.
    pub(super) fn look_for_interpreter(&self) {
        self.interpreter.set(Interpreting::Unknown);
    }

    /// The interpreter in machine code, if there is one and this function may run in it.
    #[inline(always)]
    pub(super) fn interpreter_for(&self, function: &Function<B>) -> Option<Interpreter<B>> {
        match self.interpreter.get() {
            Interpreting::InCode(interpreter) => Some(interpreter),
            Interpreting::InRust => None,
            Interpreting::Unknown if self.warm_up(function, 1) => self.find_interpreter(),
            Interpreting::Unknown => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn find_interpreter(&self) -> Option<Interpreter<B>> {
        let functions = self.links.borrow();
        let functions = functions.functions();
        let found = self.backend.borrow().interpreter(functions.stop.is_some(), functions.fuel.is_some());
        self.interpreter.set(found.map_or(Interpreting::InRust, Interpreting::InCode));
        found
    }

    /// A function's record for this interpreter; `None` if machine code cannot interpret the function.
    #[inline(always)]
    pub(super) fn record(
        &self,
        interpreter: &Interpreter<B>,
        function: &Function<B>,
    ) -> Option<*const Record> {
        match function.interpreted.ready(interpreter.table()) {
            Some(record) => Some(record),
            None => self.make_record(interpreter, function),
        }
    }

    #[cold]
    #[inline(never)]
    fn make_record(&self, interpreter: &Interpreter<B>, function: &Function<B>) -> Option<*const Record> {
        let body = function.body();
        if function.interpreted.is_refused()
            || !interpreter.knows(body.ops()) && !self.warm_up(function, 1)
            // The opcodes that are missing are compiled now.
            || stack::demand_for_compiling().is_err()
        {
            return None;
        }
        if !interpreter.prepare(body.ops()) {
            function.interpreted.refuse();
            return None;
        }
        let links = self.links.borrow();
        let functions = links.functions();
        let words = EngineWords {
            functions: functions.table,
            stop: functions.stop.unwrap_or(0),
            fuel: functions.fuel.unwrap_or(0),
        };
        let cleared = body.needed_at_start(&self.starts).end(body.slots() as u32);
        let parts = RecordParts { cleared, ..body.record_parts(words, &function.tier.budget) };
        // SAFETY: the interpreter was prepared for the function.
        function.interpreted.set(unsafe { interpreter.record(&parts) });
        function.interpreted.ready(interpreter.table())
    }

    /// Interprets a function in Rust with a budget, and counts what it takes of that: a function that is not warm stops when it is.
    pub(super) fn until_warm<T>(
        &self,
        function: &Function<B>,
        budget: &Budget,
        run: impl FnOnce(&Budget) -> T,
    ) -> T {
        let patience = function.interpreted.patience().max(self.patience.get());
        if patience <= 0 || matches!(self.interpreter.get(), Interpreting::InRust) {
            return run(budget);
        }
        let had = patience.min(budget.left());
        let portion = Budget::new(Some(had));
        let result = run(&portion);
        let used = had - portion.left();
        budget.take(used);
        self.warm_up(function, used);
        result
    }

    /// Counts calls or jumps back of a function that is interpreted in Rust. Returns whether the function is warm, and the program has
    /// interpreted for so long that it pays to make the code for that.
    fn warm_up(&self, function: &Function<B>, by: i32) -> bool {
        self.patience.set(self.patience.get().saturating_sub(by));
        function.interpreted.warm_up(by) && self.patience.get() <= 0
    }

    /// Interprets a function in machine code from a bytecode on. `None` if it is to be interpreted in Rust.
    #[inline(always)]
    pub(super) fn interpret_in_code(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<Option<Status>, Error> {
        let Some(interpreter) = self.interpreter_for(function) else { return Ok(None) };
        let Some(record) = self.record(&interpreter, function) else { return Ok(None) };
        self.demand(interpreter.stack_bytes(), context)?;
        let body = function.body();
        body.speculation.note_run();
        let top = body.registers().wrapping_add(body.depth(at));
        // SAFETY: the record is of this function, which was verified, and lives as long as it; the frame has as many slots as
        // verification asked for; control has reached this bytecode.
        Ok(Some(unsafe { interpreter.enter(&*record, context.cast(), slots, at, top) }))
    }
}
