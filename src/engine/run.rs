//! Run a function: in the best code there is, on from wherever that leaves, and up a tier when it has run for long.
//!
//! A frame is the same in all tiers, and at a bytecode's start every VM register is in its slot. So each tier resumes where
//! another one stopped. What happens next depends on why it stopped:
//!
//! - A template left the code (`exit`, a guard): the interpreter resumes, since the same code would leave there again. At
//!   the next jump back, code takes over. [`Resume`] says which of the two runs next.
//! - The budget for loops is used up: the function tiers up, and resumes in the better code at this very bytecode.

use super::backend::Status;
use super::function::{Budget, Function, TierCode};
use super::links::Links;
use super::stack::Frame;
use super::tiers::Tier;
use super::{Args, Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::{Bytecode, Flow, Functions};
use azulejo_core::vocab::Trap;
use std::cell::RefCell;

/// How many places of one function code of the optimizer is made for, besides its start.
const MAX_ENTRIES: usize = 32;

/// How many functions that take each other's place are run one by one. Then they run as those do that call each other, which
/// do not come back to the engine in between.
const FOLLOWED: usize = 8;

/// How much sooner a function tiers up from baseline code to which it came back from the optimizer's.
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
        let body = &**function.body();
        let is_cold = function.tier.budget.left() > 0
            && !function.code.has_any()
            && engine.tiers.lowest == Tier::Interpreter;
        if highest > Tier::Interpreter && !is_cold {
            // SAFETY: this is called while the engine runs a function, with that one's context.
            let called = unsafe { Links::call(&engine.links, function.number(), context.cast(), args) };
            if let Some(result) = called {
                return result;
            }
            return engine.run(function, context, args, highest).map_err(|error| as_trap(&error));
        }
        if args.len() > body.most_arguments() as usize {
            return Err(Trap::BadCall);
        }
        let caller = 0u8;
        let frame = engine.stack.enter(body.slots(), (&raw const caller).addr());
        let frame = frame.map_err(|error| as_trap(&error))?;
        let slots = frame.slots();
        // SAFETY: there are as many slots as registers at least, and nobody else knows of them yet.
        unsafe { slots.copy_from_nonoverlapping(args.as_ptr(), args.len()) };
        let portion = Budget::new(Some(PORTION));
        let budget = match highest {
            Tier::Interpreter => &portion,
            _ => {
                function.tier.budget.take(1);
                &function.tier.budget
            }
        };
        engine.may_be_interpreted(function)?;
        let (flow, at) = engine.portion(budget, |budget| {
            let machine = body.machine(slots, context, budget, engine.remote.word(), self);
            // SAFETY: the code was verified, and the frame has the slots that verification asked for.
            unsafe { B::interpret(body.ops(), &machine, 0, body.registers(), 0) }
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
                if function.tier.budget.is_used_up() {
                    engine.tier_up(function, at);
                }
                looked.and_then(|()| engine.run_on(function, context, slots, at, Resume::BestCode))
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

/// What a function resumes in at a bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resume {
    /// The best code there is, or else the interpreter.
    BestCode,
    /// The interpreter, up to the next jump back: code was left at this bytecode and would be again.
    Interpreter,
}

/// A frame that is in use.
struct Entered<'a> {
    frame: Frame<'a>,
    is_outermost: bool,
}

/// The arguments of the function that takes another one's place.
struct TailArguments<'a>(&'a RefCell<Links>);

impl Args for TailArguments<'_> {
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
            self.run_alone(function, context, TailArguments(&self.links), highest)
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
            // SAFETY: the engine runs, and the tail call was made with this context.
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
        let body = function.body();
        let (given, most) = (args.count(), body.most_arguments());
        if given > most as usize {
            return Err(Error::TooManyArguments { given, most });
        }
        let entered = self.enter(body.slots())?;
        let frame = &entered.frame;
        // SAFETY: the frame has this many slots, and nobody else knows of it yet.
        args.store(unsafe { std::slice::from_raw_parts_mut(frame.slots(), body.slots()) });
        self.take_back_fuel();
        self.calls.set(self.calls.get() + 1);
        function.code.note_use(self.calls.get());
        let result = match (self.look_for_stop(function, 0), highest) {
            (Err(error), _) => Err(error),
            (_, Tier::Interpreter) => {
                self.spend(function).and_then(|()| self.interpret_all(function, context, frame.slots(), 0))
            }
            _ => {
                self.before_call(function);
                // Compiled code takes the fuel itself.
                let spent = if function.code.has_any() { Ok(()) } else { self.spend(function) };
                spent.and_then(|()| self.run_on(function, context, frame.slots(), 0, Resume::BestCode))
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
        let budget = Budget::new(None);
        let calls = Calls { engine: self, highest: Tier::Interpreter };
        loop {
            budget.set(Some(PORTION));
            if let Some(result) = self.interpret_from(function, context, slots, &mut at, &budget, &calls) {
                return result;
            }
            self.look_for_stop(function, at)?;
        }
    }

    /// Runs a function to its end whose code for calls was left at a bytecode.
    pub(super) fn resume(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<End, Error> {
        self.look_for_stop(function, at)?;
        let resume = self.handle_exit(function, at);
        self.run_on(function, context, slots, at, resume)
    }

    /// Code was left at a bytecode: counts why. If the budget is used up, that is why, and the function tiers up.
    fn handle_exit(&self, function: &Function<B>, at: u32) -> Resume {
        if function.tier.budget.is_used_up() {
            self.counts.left_to_tier_up();
            self.tier_up(function, at);
            Resume::BestCode
        } else {
            self.counts.exited(function.body().ops()[at as usize].opcode());
            Resume::Interpreter
        }
    }

    /// Runs a function from a bytecode to its end.
    fn run_on(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        mut at: u32,
        mut resume: Resume,
    ) -> Result<End, Error> {
        let calls = Calls { engine: self, highest: Tier::Optimizer };
        loop {
            let status = match resume {
                Resume::Interpreter => None,
                Resume::BestCode => self.enter_code(function, context, slots, at)?,
            };
            match status {
                Some(Status::Returned(value)) => return Ok(End::Value(value)),
                Some(Status::Tailed) => return Ok(End::Tail),
                Some(Status::Trapped { trap, at }) => return Err(self.failed(function, trap, at)),
                Some(Status::MovedOn { at: next }) => {
                    at = next;
                    self.handle_move(function, at);
                }
                Some(Status::Exited { at: next }) => {
                    at = next;
                    self.look_for_stop(function, at)?;
                    resume = self.handle_exit(function, at);
                }
                None => {
                    let up_to_next_jump = Budget::new(Some(0));
                    let budget = match resume {
                        Resume::Interpreter => &up_to_next_jump,
                        Resume::BestCode => &function.tier.budget,
                    };
                    let result = self.interpret_from(function, context, slots, &mut at, budget, &calls);
                    if let Some(result) = result {
                        return result;
                    }
                    self.look_for_stop(function, at)?;
                    match resume {
                        Resume::Interpreter => self.shorten_budget(function, at),
                        Resume::BestCode if function.tier.budget.is_used_up() => self.tier_up(function, at),
                        Resume::BestCode => {}
                    }
                    resume = Resume::BestCode;
                }
            }
        }
    }

    /// Code is about to take over behind an exit. If the function is known to be hot, and there is only baseline code to
    /// resume in here, it does not run there for long.
    fn shorten_budget(&self, function: &Function<B>, at: u32) {
        let Some(threshold) = self.tiers.threshold(Tier::Baseline) else { return };
        if function.is_optimized() && !function.code.has_optimized(at) {
            function.tier.budget.shorten(threshold / HASTE);
        }
    }

    /// Code for an inner loop was left for the loop around it, which is as hot: it is to have code, too.
    fn handle_move(&self, function: &Function<B>, at: u32) {
        if !function.code.has_optimized(at) && !function.tier.budget.is_endless() {
            self.counts.left_to_tier_up();
            self.tier_up(function, at);
        }
    }

    /// A call counts as much as a time around a loop.
    fn before_call(&self, function: &Function<B>) {
        function.tier.budget.take(1);
        let must_be_compiled = self.tiers.lowest > Tier::Interpreter && !function.code.has_any();
        if function.tier.budget.is_used_up() || must_be_compiled || function.code.has_only_loops() {
            self.prepare(function, must_be_compiled);
        }
    }

    /// Compiles a function that is called, because it must be before it runs, or because it was called often.
    #[cold]
    #[inline(never)]
    fn prepare(&self, function: &Function<B>, must_be_compiled: bool) {
        if !must_be_compiled {
            self.tier_up(function, 0);
        } else if !function.tier.is_disabled() {
            // What cannot be compiled is interpreted.
            function.tier.compiled(self.compile_for(function, self.tiers.lowest, 0));
        }
    }

    /// The next tier for a function that resumes at a bytecode, if it is to have a higher one.
    fn next_tier(&self, function: &Function<B>, at: u32) -> Option<Tier> {
        let code = &function.code;
        match code.has_baseline() {
            _ if !self.tiers.tier_up() || function.tier.is_disabled() => None,
            false => Some(Tier::Baseline),
            true if self.tiers.highest < Tier::Optimizer => None,
            true if at > 0 && code.loops() >= MAX_ENTRIES && !code.has_optimized(at) => None,
            true => Some(Tier::Optimizer),
        }
    }

    /// Compiles a function for the next tier that resumes at a bytecode, or has it compiled. Either way it gets a new budget.
    #[cold]
    #[inline(never)]
    pub(super) fn tier_up(&self, function: &Function<B>, at: u32) {
        #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
        if self.next_tier(function, at) == Some(Tier::Optimizer) {
            // That may bring its code, or throw code away.
            self.collect();
            let is_wanted =
                self.next_tier(function, at) == Some(Tier::Optimizer) && !function.code.has_optimized(at);
            if is_wanted && self.request(function, super::worker::Purpose::Entry(at)) {
                return;
            }
        }
        let next = self.next_tier(function, at);
        if let Some(next) = next {
            function.tier.compiled(self.compile_for(function, next, at));
        }
        let is_done = next.is_none() || function.tier.is_disabled();
        function.tier.budget.set(if is_done { None } else { self.tiers.threshold(Tier::Baseline) });
    }

    /// Enters the best code that there is to resume in at a bytecode.
    #[inline(always)]
    fn enter_code(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<Option<Status>, Error> {
        Ok(match function.code.best_at(at) {
            Some(TierCode::Optimized(code)) => {
                self.stack.demand(code.stack_bytes())?;
                // SAFETY: the code was compiled from this function, which was verified, for a frame of this size, to
                // start at this bytecode.
                Some(unsafe { code.enter(context.cast(), slots, function.body().unit()) })
            }
            Some(TierCode::Baseline(code)) => {
                self.stack.demand(code.stack_bytes())?;
                // SAFETY: as above; control comes to this bytecode, so it can be reached.
                Some(unsafe { code.enter(context.cast(), slots, at) })
            }
            None => None,
        })
    }

    /// Interprets from a bytecode on, to the end or until the budget is used up; then says where.
    #[inline(never)]
    fn interpret_from(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: &mut u32,
        budget: &Budget,
        functions: &Calls<'_, B>,
    ) -> Option<Result<End, Error>> {
        let body = &**function.body();
        let depth = body.depth(*at);
        let (flow, end) = self.portion(budget, |budget| {
            let machine = body.machine(slots, context, budget, self.remote.word(), functions);
            // SAFETY: the code was verified, and the frame has the slots that verification asked for.
            unsafe { B::interpret(body.ops(), &machine, *at, body.registers(), depth) }
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
