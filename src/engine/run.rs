//! Run a function: in the best code there is, on from wherever that leaves, and up a tier when it has run for long.
//!
//! A frame is the same in all tiers, and at a bytecode's start every VM register is in its slot. So each tier goes on where
//! another one stopped. What happens next depends on why it stopped:
//!
//! - A template left the code (`exit`, a guard): the interpreter goes on, since the same code would leave there again. At
//!   the next jump back, code takes over.
//! - The budget for loops is used up: the function climbs, and goes on in the better code at this very bytecode.

use super::backend::Status;
use super::function::Function;
use super::links::Links;
use super::stack::Frame;
use super::tiers::{ENDLESS, Tier};
use super::{Args, Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::{Bytecode, Flow, Functions};
use azulejo_core::vocab::Trap;
use std::cell::{Cell, RefCell};

/// How many places of one function code of the optimizer is made for, besides its start.
const MAX_ENTRIES: usize = 32;

/// How many functions that take each other's place are run one by one. Then they run as those do that call each other, which
/// do not come back to the engine in between.
const FOLLOWED: usize = 8;

/// How much sooner a function climbs from baseline code to which it came back from the optimizer's.
const HASTE: i32 = 16;

/// How many jumps back the interpreter makes before it stops where nobody counts: often enough that tests see it.
const PORTION: i32 = 1 << 16;

/// The functions of an engine, as the interpreter calls them: in tiers up to this one.
struct Calls<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    highest: Tier,
}

impl<B: Bytecode> Functions<B::Context> for Calls<'_, B> {
    fn invoke(&self, context: *mut B::Context, function: u32, args: &[u64]) -> Result<u64, Trap> {
        let Calls { engine, highest } = *self;
        let Ok(function) = engine.function(FunctionId(function)) else { return Err(Trap::BadCall) };
        engine.take_back_fuel();
        engine.may_start(function)?;
        let left = function.budget().get();
        let is_cold = left > 0 && !function.has_code() && engine.tiers.lowest == Tier::Interpreter;
        if highest > Tier::Interpreter && !is_cold {
            // SAFETY: this is called while the engine runs a function, with that one's context.
            let called = unsafe { Links::call(&engine.links, function.number(), context.cast(), args) };
            if let Some(result) = called {
                return result;
            }
            return engine.run(function, context, args, highest).map_err(|error| as_trap(&error));
        }
        if args.len() > function.most_arguments() as usize {
            return Err(Trap::BadCall);
        }
        let caller = 0u8;
        let frame = engine.stack.enter(function.slots(), (&raw const caller).addr());
        let frame = frame.map_err(|error| as_trap(&error))?;
        let slots = frame.slots();
        // SAFETY: there are as many slots as registers at least, and nobody else knows of them yet.
        unsafe { slots.copy_from_nonoverlapping(args.as_ptr(), args.len()) };
        let portion = Cell::new(PORTION);
        let budget = match highest {
            Tier::Interpreter => &portion,
            _ => {
                function.budget().set(if left == ENDLESS { left } else { left - 1 });
                function.budget()
            }
        };
        engine.may_be_interpreted(function)?;
        let (flow, at) = engine.portion(budget, |budget| {
            let machine = function.machine(slots, context, budget, engine.remote.word(), self);
            // SAFETY: the code was verified, and the frame has the slots that verification asked for.
            unsafe { B::interpret(function.code(), &machine, 0, function.registers(), 0) }
        });
        let result = match flow {
            Flow::Return(value) => return Ok(value),
            Flow::Trap(trap) => {
                engine.note(function.number(), at);
                return Err(trap);
            }
            Flow::Tail => Ok(End::Tail),
            _ if highest == Tier::Interpreter => engine.interpret_all(function, context, slots, at),
            _ => {
                let looked = engine.look_for_stop(function, at);
                if function.is_used_up() {
                    engine.climb(function, at);
                }
                looked.and_then(|()| engine.run_on(function, context, slots, at, false))
            }
        };
        drop(frame);
        let result = result.and_then(|end| engine.run_next(end, context, highest));
        result.map_err(|error| as_trap(&error))
    }

    fn set_tail_call(&self, context: *mut B::Context, function: u32, args: &[u64]) -> Result<(), Trap> {
        self.engine.links.borrow().set_tail_call(context.cast(), function, args);
        Ok(())
    }
}

/// How a function ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Value(u64),
    /// Another function takes its place, which [`Links::next`] tells of.
    Tail,
}

/// A frame that is in use.
struct Entered<'a> {
    frame: Frame<'a>,
    is_outermost: bool,
}

/// The arguments of the function that takes another one's place.
struct PutOff<'a>(&'a RefCell<Links>);

impl Args for PutOff<'_> {
    fn count(&self) -> usize {
        self.0.borrow().next().1
    }

    fn store(self, frame: &mut [u64]) {
        self.0.borrow().give_next(frame);
    }
}

/// Why a function failed, as the function that called it fails.
pub(super) fn as_trap(error: &Error) -> Trap {
    match *error {
        Error::Trap { trap, .. } => trap,
        Error::StackOverflow | Error::Interrupted { .. } | Error::OutOfFuel { .. } => Trap::StackOverflow,
        // The call was wrong: nothing else keeps a function from running.
        _ => Trap::BadCall,
    }
}

impl<B: Bytecode> Engine<B> {
    /// A trap if a function that another one calls is not to start.
    #[inline]
    fn may_start(&self, function: &Function<B>) -> Result<(), Trap> {
        self.look_for_stop(function, 0).map_err(|error| as_trap(&error))
    }

    /// A trap if there is no fuel for one that is interpreted.
    #[inline]
    fn may_be_interpreted(&self, function: &Function<B>) -> Result<(), Trap> {
        self.spend(function).map_err(|error| as_trap(&error))
    }

    /// Runs a function in tiers up to this one, and those that take its place.
    pub(super) fn run<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<u64, Error> {
        let end = self.run_alone(function, context, args, highest)?;
        self.run_next(end, context, highest)
    }

    /// Runs the functions that take the place of one that ended.
    #[inline(always)]
    fn run_next(&self, end: End, context: *mut B::Context, highest: Tier) -> Result<u64, Error> {
        match end {
            End::Value(value) => Ok(value),
            End::Tail => self.run_all_next(context, highest),
        }
    }

    #[cold]
    #[inline(never)]
    fn run_all_next(&self, context: *mut B::Context, highest: Tier) -> Result<u64, Error> {
        let is_bad = |error: Error| match error {
            Error::Trap { .. } | Error::StackOverflow => error,
            Error::Interrupted { .. } | Error::OutOfFuel { .. } => error,
            error => Error::Trap { trap: as_trap(&error), at: 0 },
        };
        let run_next = || -> Result<End, Error> {
            let number = self.links.borrow().next().0;
            let function = self.function(FunctionId(number))?;
            self.run_alone(function, context, PutOff(&self.links), highest)
        };
        for _ in 0..FOLLOWED {
            if let End::Value(value) = run_next().map_err(is_bad)? {
                return Ok(value);
            }
        }
        // In a long row nobody is told which bytecode of which function failed, whatever tier that ran in.
        let is_lost = |error: Error| match error {
            Error::StackOverflow => error,
            Error::Interrupted { .. } => Error::Interrupted { at: 0 },
            Error::OutOfFuel { .. } => Error::OutOfFuel { at: 0 },
            error => Error::Trap { trap: as_trap(&error), at: 0 },
        };
        if highest > Tier::Interpreter {
            let entered = self.enter(0)?;
            // SAFETY: the engine runs, and the next function was put off with this context.
            let called = unsafe { Links::call_next(&self.links, context.cast()) };
            let result = called.transpose().map_err(|trap| self.reason(trap, 0));
            if let Some(value) = self.leave(entered, result)? {
                return Ok(value);
            }
        }
        loop {
            if let End::Value(value) = run_next().map_err(is_lost)? {
                return Ok(value);
            }
        }
    }

    /// Takes a frame of so many slots. For an outermost call the engine is made ready to run code.
    fn enter(&self, slots: usize) -> Result<Entered<'_>, Error> {
        let is_outermost = !self.stack.is_in_use();
        let caller = 0u8;
        let frame = self.stack.enter(slots, (&raw const caller).addr())?;
        if is_outermost {
            if self.guards {
                super::backend::prepare_thread();
            }
            self.links.borrow().begin(std::ptr::from_ref(self).cast(), self.stack.lowest());
        }
        Ok(Entered { frame, is_outermost })
    }

    /// Gives the frame back of a call that has ended so.
    fn leave<T>(
        &self,
        Entered { frame, is_outermost }: Entered<'_>,
        result: Result<T, Error>,
    ) -> Result<T, Error> {
        drop(frame);
        if is_outermost {
            self.free_retired();
            self.has_stopped(&result);
        }
        result
    }

    /// Runs a function in tiers up to this one.
    pub(super) fn run_alone<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<End, Error> {
        if args.count() > function.most_arguments() as usize {
            return Err(Error::TooManyArguments { given: args.count(), most: function.most_arguments() });
        }
        let entered = self.enter(function.slots())?;
        let frame = &entered.frame;
        // SAFETY: the frame has this many slots, and nobody else knows of it yet.
        args.store(unsafe { std::slice::from_raw_parts_mut(frame.slots(), function.slots()) });
        self.take_back_fuel();
        self.calls.set(self.calls.get() + 1);
        function.note_call(self.calls.get());
        let result = match (self.look_for_stop(function, 0), highest) {
            (Err(error), _) => Err(error),
            (_, Tier::Interpreter) => {
                self.spend(function).and_then(|()| self.interpret_all(function, context, frame.slots(), 0))
            }
            _ => {
                self.before_call(function);
                // Compiled code takes the fuel itself.
                let spent = if function.has_code() { Ok(()) } else { self.spend(function) };
                spent.and_then(|()| self.run_on(function, context, frame.slots(), 0, false))
            }
        };
        self.leave(entered, result)
    }

    fn interpret_all(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        mut at: u32,
    ) -> Result<End, Error> {
        let budget = Cell::new(0);
        let calls = Calls { engine: self, highest: Tier::Interpreter };
        loop {
            budget.set(PORTION);
            if let Some(result) = self.interpret_on(function, context, slots, &mut at, &budget, &calls) {
                return result;
            }
            self.look_for_stop(function, at)?;
        }
    }

    /// Goes on behind an exit of compiled code.
    pub(super) fn exited(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<End, Error> {
        self.look_for_stop(function, at)?;
        let must_interpret = self.must_interpret(function, at);
        self.run_on(function, context, slots, at, must_interpret)
    }

    /// Whether a function whose code was left at a bytecode is interpreted from there: if its budget is used up, it climbs.
    fn must_interpret(&self, function: &Function<B>, at: u32) -> bool {
        let is_used_up = function.is_used_up();
        self.counts.left(function.code()[at as usize].opcode(), is_used_up);
        if is_used_up {
            self.climb(function, at);
        }
        !is_used_up
    }

    /// Runs a function from a bytecode to its end. Behind an exit it must be interpreted at first.
    fn run_on(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        mut at: u32,
        mut must_interpret: bool,
    ) -> Result<End, Error> {
        let calls = Calls { engine: self, highest: Tier::Optimizer };
        loop {
            let status = match must_interpret {
                true => None,
                false => self.enter_code(function, context, slots, at)?,
            };
            match status {
                Some(Status::Returned(value)) => return Ok(End::Value(value)),
                Some(Status::Tailed) => return Ok(End::Tail),
                Some(Status::Trapped { trap, at }) => return Err(self.failed(function, trap, at)),
                Some(Status::MovedOn { at: next }) => {
                    at = next;
                    self.move_on(function, at);
                }
                Some(Status::Exited { at: next }) => {
                    at = next;
                    self.look_for_stop(function, at)?;
                    must_interpret = self.must_interpret(function, at);
                }
                None => {
                    // Behind an exit code takes over at the next jump back.
                    let nothing = Cell::new(0);
                    let budget = if must_interpret { &nothing } else { function.budget() };
                    if let Some(result) = self.interpret_on(function, context, slots, &mut at, budget, &calls)
                    {
                        return result;
                    }
                    self.look_for_stop(function, at)?;
                    match must_interpret {
                        true => self.come_back(function, at),
                        false if function.is_used_up() => self.climb(function, at),
                        false => {}
                    }
                    must_interpret = false;
                }
            }
        }
    }

    /// Code is about to take over behind an exit. If the function is known to be hot, and there is only baseline code for
    /// going on here, it does not run there for long.
    fn come_back(&self, function: &Function<B>, at: u32) {
        let soon = self.tiers.budget(Tier::Baseline) / HASTE;
        if function.is_optimized() && function.budget().get() != ENDLESS && function.code_at(at).is_none() {
            function.budget().set(function.budget().get().min(soon));
        }
    }

    /// Code for an inner loop was left for the loop around it, which is as hot: it is to have code, too.
    fn move_on(&self, function: &Function<B>, at: u32) {
        if function.code_at(at).is_none() && function.budget().get() != ENDLESS {
            self.counts.left(function.code()[at as usize].opcode(), true);
            self.climb(function, at);
        }
    }

    /// A call counts as much as a time around a loop.
    fn before_call(&self, function: &Function<B>) {
        let left = function.budget().get();
        if left != ENDLESS {
            function.budget().set(left - 1);
        }
        let must_be_compiled = self.tiers.lowest > Tier::Interpreter && !function.has_code();
        if left <= 0 || must_be_compiled || function.is_hot_inside() {
            self.prepare(function, must_be_compiled);
        }
    }

    /// Compiles a function that is called, because it must be before it runs, or because it was called often.
    #[cold]
    #[inline(never)]
    fn prepare(&self, function: &Function<B>, must_be_compiled: bool) {
        if !must_be_compiled {
            self.climb(function, 0);
        } else if !function.is_stuck() {
            // What cannot be compiled is interpreted.
            function.note(self.compile_for(function, self.tiers.lowest, 0));
        }
    }

    /// The next tier for a function that is about to go on at a bytecode, if there is a higher one.
    #[cold]
    #[inline(never)]
    pub(super) fn climb(&self, function: &Function<B>, at: u32) {
        let next = match function.has_baseline() {
            _ if !self.tiers.climb() || function.is_stuck() => None,
            false => Some(Tier::Baseline),
            true if self.tiers.highest < Tier::Optimizer => None,
            true if at > 0 && function.entries() >= MAX_ENTRIES && function.code_at(at).is_none() => None,
            true => Some(Tier::Optimizer),
        };
        #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
        if next == Some(Tier::Optimizer) {
            self.collect();
            if function.code_at(at).is_none() && self.request(function, super::worker::Purpose::Entry(at)) {
                return;
            }
        }
        let is_done = next.is_none_or(|next| {
            function.note(self.compile_for(function, next, at));
            function.is_stuck()
        });
        function.budget().set(if is_done { ENDLESS } else { self.tiers.budget(Tier::Baseline) });
    }

    /// Enters the best code that there is for going on at a bytecode.
    #[inline(always)]
    fn enter_code(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<Option<Status>, Error> {
        let unit = function.unit();
        if let Some(code) = function.code_at(at) {
            self.stack.demand(code.stack_bytes())?;
            // SAFETY: the code was compiled from this function, which was verified, for a frame of this size, to
            // go on at this bytecode.
            return Ok(Some(unsafe { code.enter(context.cast(), slots, unit) }));
        }
        let Some(code) = function.baseline() else { return Ok(None) };
        self.stack.demand(code.stack_bytes())?;
        // SAFETY: as above; control comes to this bytecode, so it can be reached.
        Ok(Some(unsafe { code.enter(context.cast(), slots, at) }))
    }

    /// Interprets from a bytecode on, to the end or until the budget is used up; then says where.
    #[inline(never)]
    fn interpret_on(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: &mut u32,
        budget: &Cell<i32>,
        functions: &Calls<'_, B>,
    ) -> Option<Result<End, Error>> {
        let depth = function.depth(*at);
        let (flow, end) = self.portion(budget, |budget| {
            let machine = function.machine(slots, context, budget, self.remote.word(), functions);
            // SAFETY: the code was verified, and the frame has the slots that verification asked for.
            unsafe { B::interpret(function.code(), &machine, *at, function.registers(), depth) }
        });
        match flow {
            Flow::Return(value) => Some(Ok(End::Value(value))),
            Flow::Tail => Some(Ok(End::Tail)),
            Flow::Trap(trap) => Some(Err(self.failed(function, trap, end))),
            Flow::Jump(to) => {
                *at = to;
                None
            }
            Flow::Next => unreachable!("the interpreter runs until it returns, traps or stops at a jump"),
        }
    }
}
