//! Execution of a function: in the best code that it has, resumed after each exit, and tiered up when it is hot.
//!
//! In: a function, a context and arguments. Out: its result, or an error.
//!
//! A frame is the same in all tiers, and at a bytecode's start every VM register is in its slot. So each tier can resume
//! where another one stopped. The next step depends on why it stopped:
//!
//! - A template exited from the code (`exit`, a guard): the interpreter resumes, since the same code would exit there again.
//!   At the next backward jump, compiled code takes over. [`Resume`] says which of the two runs next.
//! - The code has reached a slow path that it leaves out: the interpreter resumes as well. The optimizer's code that does this often is
//!   discarded; baseline code is made again, with what it lacked.
//! - The budget for loops is used up: the function tiers up, and resumes in the better code at the same bytecode.

use super::function::{Budget, Function, TierCode};
use super::native::Links;
use super::native::Status;
use super::stack::TakenFrame;
use super::tiers::Tier;
use super::{Args, Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::{Bytecode, Callable, Flow, Functions};
use azulejo_core::vocab::Trap;
use std::cell::RefCell;

/// How many functions of a chain of tail calls the engine runs one by one. The rest of the chain runs by call cells, as calls
/// between functions do, without returning to the engine after each function.
const FOLLOWED: usize = 8;

/// After how many backward jumps the interpreter stops if no budget limits it: few enough that tests cover this.
const PORTION: i32 = 1 << 16;

/// Makes the interpreter's calls to functions of an engine, in tiers up to `highest`.
struct Calls<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    highest: Tier,
}

impl<B: Bytecode> Functions<B::Context> for Calls<'_, B> {
    unsafe fn number(&self, callee: *const Callable) -> u32 {
        // SAFETY: the caller guarantees that it is the address of a function.
        unsafe { Links::number(callee) }
    }

    fn invoke(&self, context: *mut B::Context, function: u32, args: &[u64]) -> Result<u64, Trap> {
        let Calls { engine, highest } = *self;
        let Ok(function) = engine.function(FunctionId(function)) else { return Err(Trap::BadCall) };
        engine.take_back_fuel();
        engine.may_start(function)?;
        let body = &**function.body();
        let is_cold = function.tier.budget.left() > 0
            && !function.code.has_any()
            && engine.tiers.lowest == Tier::Interpreter
            && engine.interpreter_for(function).is_none();
        if highest > Tier::Interpreter && !is_cold {
            // SAFETY: the engine is running a function, with this context.
            let called = unsafe { Links::call(&engine.links, function.number(), context.cast(), args) };
            if let Some(result) = called {
                return result;
            }
            return engine.run(function, context, args, highest).map_err(Trap::from);
        }
        if !body.takes(args.len()) {
            return engine.run(function, context, args, highest).map_err(Trap::from);
        }
        let caller = 0u8;
        let frame = engine.take_frame(body.slots(), (&raw const caller).addr(), context);
        let frame = frame.map_err(Trap::from)?;
        let slots = frame.slots();
        // SAFETY: the frame has this many slots, and nothing else refers to it yet.
        let registers = unsafe { std::slice::from_raw_parts_mut(slots, body.slots()) };
        registers[..args.len()].copy_from_slice(args);
        body.fill_missing(registers, args.len());
        let portion = Budget::new(Some(PORTION));
        let budget = match highest {
            Tier::Interpreter => &portion,
            _ => {
                function.tier.budget.take(1);
                &function.tier.budget
            }
        };
        engine.may_be_interpreted(function)?;
        let interpret = |budget: &Budget| {
            engine.portion(budget, |budget| {
                let machine = body.machine(slots, context, budget, engine.remote.word(), self);
                // SAFETY: the code was verified, and the frame has the slots that verification asked for.
                unsafe { B::interpret(body.running(), &machine, 0, body.registers(), 0) }
            })
        };
        let (flow, at) = match highest {
            Tier::Interpreter => interpret(budget),
            _ => engine.until_warm(function, budget, interpret),
        };
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
        result.map_err(Trap::from)
    }

    fn caught(&self, trap: Trap) -> Result<u32, Trap> {
        let code = self.engine.links.borrow().caught(trap);
        Trap::from_code(code).map_or(Ok(code), Trap::catch)
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
    /// It made a tail call; [`Links::next`] returns the callee.
    Tail,
}

/// The way in which a function resumes at a bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resume {
    /// In the best code that the function has, or else in the interpreter.
    BestCode,
    /// In the interpreter, up to the next backward jump: code exited at this bytecode, and would exit there again.
    Interpreter,
}

/// A frame that is in use.
struct Entered<'a> {
    frame: TakenFrame<'a>,
    is_outermost: bool,
}

/// The error of a failure of which nobody is told at which bytecode it happened.
pub(super) fn without_position(error: Error) -> Error {
    match error {
        Error::Trap { trap, .. } => Error::Trap { trap, at: 0 },
        Error::Interrupted { .. } => Error::Interrupted { at: 0 },
        Error::OutOfFuel { .. } => Error::OutOfFuel { at: 0 },
        error => error,
    }
}

/// The arguments of a pending tail call.
struct TailArguments<'a>(&'a RefCell<Links>);

impl Args for TailArguments<'_> {
    fn count(&self) -> usize {
        self.0.borrow().next().1
    }

    fn store(self, frame: &mut [u64]) {
        self.0.borrow().give_next(frame);
    }
}

impl<B: Bytecode> Engine<B> {
    /// Returns a trap if a callee must not start, because the program is to stop or out of fuel.
    #[inline]
    fn may_start(&self, function: &Function<B>) -> Result<(), Trap> {
        self.look_for_stop(function, 0).map_err(Trap::from)
    }

    /// Returns a trap if there is no fuel for interpreting a callee.
    #[inline]
    fn may_be_interpreted(&self, function: &Function<B>) -> Result<(), Trap> {
        self.spend(function).map_err(Trap::from)
    }

    /// Runs a function in tiers up to `highest`, and then the functions that it and its callees tail-call.
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

    /// If a function ended in a tail call, runs the callee, and so on until a function returns.
    #[inline(always)]
    pub(super) fn run_next(&self, end: End, context: *mut B::Context, highest: Tier) -> Result<u64, Error> {
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
            error => Error::Trap { trap: Trap::from(error), at: 0 },
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
        // In a long chain the failing bytecode is not reported, so that the error does not depend on the tier.
        let is_lost = |error: Error| without_position(is_bad(error));
        if highest > Tier::Interpreter {
            let entered = self.enter(0, context)?;
            // SAFETY: the engine is running, and the tail call was made with this context.
            let called = unsafe { Links::call_next(&self.links, context.cast()) };
            let result = called.transpose().map_err(|trap| self.reason(trap, 0));
            self.leave(entered, &result);
            if let Some(value) = result? {
                return Ok(value);
            }
        }
        loop {
            if let End::Value(value) = run_next().map_err(is_lost)? {
                return Ok(value);
            }
        }
    }

    /// Takes a frame of this many slots. An outermost call also prepares the engine and the thread to run code.
    fn enter(&self, slots: usize, context: *mut B::Context) -> Result<Entered<'_>, Error> {
        let is_outermost = !self.stack.is_in_use();
        let caller = 0u8;
        let frame = self.take_frame(slots, (&raw const caller).addr(), context)?;
        if is_outermost {
            if self.guards {
                super::native::prepare_thread();
            }
            self.links.borrow().begin(std::ptr::from_ref(self).cast(), self.stack.lowest());
        }
        Ok(Entered { frame, is_outermost })
    }

    /// Releases the frame of a call that has ended with this result.
    fn leave<T>(&self, Entered { frame, is_outermost }: Entered<'_>, result: &Result<T, Error>) {
        drop(frame);
        if is_outermost {
            self.free_retired();
            self.has_stopped(result);
        }
    }

    /// Runs a function in tiers up to `highest`, without the functions that it tail-calls.
    pub(super) fn run_alone<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<End, Error> {
        if !function.body().takes(args.count()) {
            return self.run_with_surplus(function, context, args, highest);
        }
        self.run_placed(function, context, args, highest)
    }

    /// Likewise; each argument has a VM register.
    pub(super) fn run_placed<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<End, Error> {
        let (body, given) = (function.body(), args.count());
        let entered = self.enter(body.slots(), context)?;
        let frame = &entered.frame;
        // SAFETY: the frame has this many slots, and nothing else refers to it yet.
        let registers = unsafe { std::slice::from_raw_parts_mut(frame.slots(), body.slots()) };
        args.store(registers);
        body.fill_missing(registers, given);
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
                // Compiled code consumes the fuel itself.
                let spent = if function.code.has_any() { Ok(()) } else { self.spend(function) };
                spent.and_then(|()| self.run_on(function, context, frame.slots(), 0, Resume::BestCode))
            }
        };
        self.leave(entered, &result);
        result
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

    /// Runs a function to its end, after an exit at a bytecode from its code for calls; `is_miss` if that left out a slow path.
    pub(super) fn resume(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
        is_miss: bool,
    ) -> Result<End, Error> {
        self.look_for_stop(function, at)?;
        let resume = if is_miss { self.handle_miss(function, at) } else { self.handle_exit(function, at) };
        self.run_on(function, context, slots, at, resume)
    }

    /// Runs a function to its end, after an exit at a bytecode from machine code that interprets it.
    pub(super) fn resume_interpreted(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        at: u32,
    ) -> Result<End, Error> {
        self.look_for_stop(function, at)?;
        let resume = self.handle_interpreted_exit(function, at);
        self.run_on(function, context, slots, at, resume)
    }

    /// Handles an exit at a bytecode from machine code that interprets: it tiers up if the budget is used up. Otherwise the template
    /// has exited.
    fn handle_interpreted_exit(&self, function: &Function<B>, at: u32) -> Resume {
        if !self.is_left_to_tier_up(function, at) {
            return Resume::Interpreter;
        }
        self.tier_up(function, at);
        Resume::BestCode
    }

    /// Whether code was left at a bytecode because the budget is used up. Who looks at the budget is at a jump's target: elsewhere there was
    /// another reason, and baseline code is not to be entered.
    fn is_left_to_tier_up(&self, function: &Function<B>, at: u32) -> bool {
        function.tier.budget.is_used_up() && function.body().is_entry(at)
    }

    /// Handles an exit in front of a slow path that was left out. After a few of them the code is discarded: what is compiled
    /// next has the slow paths that have run by then.
    fn handle_miss(&self, function: &Function<B>, at: u32) -> Resume {
        self.counts.missed();
        if function.body().speculation.note_miss(at) {
            self.discard_optimized(function);
        }
        Resume::Interpreter
    }

    /// Handles an exit at a bytecode, and counts its cause. If the budget is used up, that is the cause, and the function
    /// tiers up.
    fn handle_exit(&self, function: &Function<B>, at: u32) -> Resume {
        if self.is_left_to_tier_up(function, at) {
            self.counts.left_to_tier_up();
            self.tier_up(function, at);
            Resume::BestCode
        } else if function.code.lacks(at) {
            self.counts.found_gap();
            self.fill_gap(function, at);
            Resume::Interpreter
        } else {
            self.counts.exited(function.body().ops()[at as usize].opcode());
            Resume::Interpreter
        }
    }

    /// Runs a function from a bytecode to its end.
    pub(super) fn run_on(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        slots: *mut u64,
        mut at: u32,
        mut resume: Resume,
    ) -> Result<End, Error> {
        let calls = Calls { engine: self, highest: Tier::Optimizer };
        loop {
            let mut is_interpreted = false;
            let mut status = match resume {
                Resume::Interpreter => None,
                Resume::BestCode => self.enter_code(function, context, slots, at)?,
            };
            if status.is_none() && resume == Resume::BestCode {
                is_interpreted = true;
                status = self.interpret_in_code(function, context, slots, at)?;
            }
            match status {
                Some(Status::Returned(value)) => return Ok(End::Value(value)),
                Some(Status::Tailed) => return Ok(End::Tail),
                Some(Status::Trapped { trap, at }) => return Err(self.failed(function, trap, at)),
                Some(Status::MovedOn { at: next }) => {
                    at = next;
                    self.handle_move(function, at);
                }
                Some(Status::Inlined { at: next }) => {
                    at = next;
                    self.finish_inlined(function, context, slots)?;
                    resume = Resume::Interpreter;
                }
                Some(Status::Missed { at: next }) => {
                    at = next;
                    self.look_for_stop(function, at)?;
                    resume = self.handle_miss(function, at);
                }
                Some(Status::Exited { at: next }) => {
                    at = next;
                    self.look_for_stop(function, at)?;
                    resume = match is_interpreted {
                        true => self.handle_interpreted_exit(function, at),
                        false => self.handle_exit(function, at),
                    };
                }
                None => {
                    let up_to_next_jump = Budget::new(Some(0));
                    let budget = match resume {
                        Resume::Interpreter => &up_to_next_jump,
                        Resume::BestCode => &function.tier.budget,
                    };
                    let result = self.until_warm(function, budget, |budget| {
                        self.interpret_from(function, context, slots, &mut at, budget, &calls)
                    });
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

    /// Enters the best code that can resume at a bytecode, if there is any.
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
                self.demand(code.stack_bytes(), context)?;
                // SAFETY: the code was compiled from this function, which was verified, for a frame of this size, to
                // start at this bytecode.
                Some(unsafe { code.enter(context.cast(), slots, function.body().unit()) })
            }
            Some(TierCode::Baseline(code)) => {
                self.demand(code.stack_bytes(), context)?;
                debug_assert!(
                    function.body().is_entry(at),
                    "baseline code may expect a value of bytecode {at} - 1"
                );
                // SAFETY: as above; this is the start or the target of a jump.
                Some(unsafe { code.enter(context.cast(), slots, at) })
            }
            None => None,
        })
    }

    /// Interprets a function from a bytecode on, to its end or until the budget is used up. In the latter case it returns `None`
    /// and sets `at` to the bytecode at which to resume.
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
            unsafe { B::interpret(body.running(), &machine, *at, body.registers(), depth) }
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
