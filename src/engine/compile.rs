//! Compilation of functions, and disposal of their code.
//!
//! In: functions, on request or because they are hot. Out: code that later calls run. Discarded code is kept as long as a call
//! may run it. When code memory is full, the least recently used code is discarded.

use super::function::{Function, Retired};
use super::native::Compiled;
use super::tier_up::HASTE;
use super::tiers::Tier;
use super::{Engine, FunctionId, running, stack};
use crate::Error;
use crate::inside::{Form, Watch};
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The progress of [`Engine::compile_all`].
///
/// ```
/// use azulejo::Progress;
///
/// fn percent(progress: Progress) -> usize {
///     progress.done * 100 / progress.all
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// How many functions were tried so far.
    pub done: usize,
    /// How many functions there are in all.
    pub all: usize,
    /// The function that was tried last.
    pub function: FunctionId,
    /// Whether this function could be compiled.
    pub result: Result<(), Error>,
}

impl<B: Bytecode> Engine<B> {
    /// Compiles a function with the optimizer. Calls that start from now on run the machine code.
    ///
    /// If code memory is full, other functions lose their code: see [`Builder::code_bytes`](crate::Builder::code_bytes). If the
    /// thread has too little stack left to run a compiler, the error is [`Error::StackOverflow`].
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     engine.compile(double)?;
    ///     assert_eq!(engine.tier(double), Tier::Optimizer);
    /// }
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(&self, function: FunctionId) -> Result<(), Error> {
        self.compile_in(function, Tier::Optimizer)
    }

    /// Compiles a function for a tier at once, even if the engine has given up compiling it. For [`Tier::Interpreter`] this does
    /// nothing. The code by which other functions of bytecode call the function is made, too, if the number of arguments is
    /// known: by [`Code::with_arguments`](crate::Code::with_arguments), or from an earlier call.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     engine.compile_in(double, Tier::Baseline)?;
    ///     assert_eq!(engine.tier(double), Tier::Baseline);
    /// }
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile_in(&self, function: FunctionId, tier: Tier) -> Result<(), Error> {
        let _visit = self.visit();
        let function = self.function(function)?;
        function.code.note_use(self.calls.get());
        match self.compile_for(function, tier, 0) {
            // Limits bisect faults of the compiler, so the program must not notice them.
            Err(Error::Limited) => Ok(()),
            Ok(()) => {
                self.prepare_for_calls(function);
                Ok(())
            }
            result => result,
        }
    }

    /// Compiles functions for a tier, one after another, and calls `tell` after each. A function that cannot be compiled does not
    /// stop the others; [`ControlFlow::Break`] does. Returns how many functions were compiled.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    #[doc = include_str!("doubling.txt")]
    /// use std::ops::ControlFlow;
    ///
    /// let engine = Engine::<Op>::new();
    /// let names = ["first", "second", "third"];
    /// let functions = names.map(|name| engine.define(name, code.clone(), 1).expect("it is right"));
    /// let compiled = engine.compile_all(&functions, Tier::Baseline, |progress| {
    ///     println!("{} of {}: {:?}", progress.done, progress.all, progress.result);
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(compiled, if azulejo::can_compile().is_ok() { 3 } else { 0 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile_all(
        &self,
        functions: &[FunctionId],
        tier: Tier,
        mut tell: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> usize {
        let mut compiled = 0;
        for (at, &function) in functions.iter().enumerate() {
            let result = self.compile_in(function, tier);
            compiled += result.is_ok() as usize;
            let progress = Progress { done: at + 1, all: functions.len(), function, result };
            if tell(progress).is_break() {
                break;
            }
        }
        compiled
    }

    /// Compiles a function with its entry at a bytecode, unless that code exists.
    pub(super) fn compile_for(&self, function: &Function<B>, tier: Tier, at: u32) -> Result<(), Error> {
        match tier {
            Tier::Baseline if !function.code.has_baseline() => {
                let code = self.watched(function, Form::Baseline, |watch| {
                    let counters = self.counters(function).map(std::ptr::from_ref);
                    let bytecode = function.body().bytecode(counters);
                    let (mut backend, links) = (self.backend.borrow_mut(), self.links.borrow());
                    let code =
                        backend.baseline(&bytecode, function.body().linkage(links.functions()), watch)?;
                    if let Some(trace) = watch.trace() {
                        trace.baseline(code.bytes(), code.entry().addr() as u64, &code.map());
                    }
                    Ok(code)
                })?;
                function.code.set_baseline(code);
                function.body().speculation.note_run();
                // The function may have become hot in a loop, where nobody looks at how calls enter it.
                if function.calls.enters_interpreter() {
                    self.close(function);
                }
            }
            Tier::Optimizer if !function.code.has_optimized(at) => {
                let code = self.watched(function, Form::Optimizer(at), |watch| {
                    self.with_source(function, at, |source, _| {
                        self.backend.borrow_mut().compile(source, watch)
                    })
                })?;
                self.install(function, at, code);
            }
            _ => {}
        }
        Ok(())
    }

    /// Compiles a function under the engine's observers, and counts the compilation. Makes room in code memory if it is full.
    pub(super) fn watched<T>(
        &self,
        function: &Function<B>,
        form: Form,
        compile: impl Fn(&mut Watch<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // A fiber's stack has no room for a compiler.
        running::on_thread_stack(|| {
            stack::demand_for_compiling()?;
            let ops = function.body().ops_now();
            let subject = function.body().subject(&ops, form, &**function.body());
            self.making_room(|| {
                let mut watch = self.inside.watch(&subject)?;
                let result = compile(&mut watch);
                self.counts.compiled(watch.record());
                result
            })
        })
    }

    /// Makes something that takes code memory. Retries as long as that is full and code can be evicted.
    pub(super) fn making_room<T>(&self, make: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        loop {
            match make() {
                Err(Error::OutOfCodeMemory) if self.evict() => {}
                result => return result,
            }
        }
    }

    /// Installs the optimizer's code for an entry at a bytecode.
    pub(super) fn install(&self, function: &Function<B>, at: u32, code: Compiled) {
        function.code.set_optimized(at, code);
        if !function.calls.is_direct() {
            // Other functions call it by an adapter to baseline code, if at all. The next such call compiles it for calls, too:
            // a function with a hot loop is worth that.
            self.close(function);
        } else if at == 0 {
            self.close_fallback(function);
        }
    }

    /// Discards the machine code of a function. Calls that start from now on are interpreted. The code's memory is free for
    /// other functions once the calls that run it have ended.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// engine.discard(double)?;
    /// assert_eq!(engine.tier(double), Tier::Interpreter);
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn discard(&self, function: FunctionId) -> Result<(), Error> {
        self.discard_code(self.known(function)?);
        self.free_retired();
        Ok(())
    }

    pub(super) fn discard_code(&self, function: &Function<B>) {
        self.close(function);
        function.discard(&self.tiers);
    }

    /// Discards what the optimizer has made of a hot function, which tiers up again soon.
    pub(super) fn discard_optimized(&self, function: &Function<B>) {
        self.close(function);
        function.discard_optimized();
        if let Some(threshold) = self.tiers.threshold(Tier::Baseline).filter(|_| !function.tier.is_disabled())
        {
            let patience = function.made_body().map_or(1, |body| body.speculation.patience());
            function.tier.begin_budget(Some((threshold / HASTE).max(1).saturating_mul(patience)));
        }
    }

    /// Discards baseline code that lacked something at a bytecode, which runs now. At the next call or jump back it is made again, with
    /// all that has run by then. Calls that run the code that lacks it leave that there.
    #[cold]
    #[inline(never)]
    pub(super) fn fill_gap(&self, function: &Function<B>, at: u32) {
        function.body().speculation.note_gap(at);
        self.discard_baseline(function);
        function.tier.await_run();
    }

    /// Discards baseline code.
    pub(super) fn discard_baseline(&self, function: &Function<B>) {
        // Calls that enter the optimizer's code directly do not come to baseline code, but for those with an unusual number of arguments.
        match function.calls.is_direct() {
            true => self.close_fallback(function),
            false => self.close(function),
        }
        function.code.clear_baseline();
    }

    /// Routes calls from other functions to the engine, until the entry is opened again.
    pub(super) fn close(&self, function: &Function<B>) {
        if let Some(retired) = function.close() {
            self.links.borrow().close(function.number());
            self.retired.borrow_mut().push(retired);
        }
    }

    /// Routes calls with an unusual number of arguments to the engine.
    fn close_fallback(&self, function: &Function<B>) {
        if let Some(retired) = function.close_fallback() {
            self.links.borrow().close_fallback(function.number());
            self.retired.borrow_mut().push(retired);
        }
    }

    /// Frees discarded code to which no call can return. As long as there are fibers, this is put off until there is much.
    #[inline(always)]
    pub(super) fn free_retired(&self) {
        if !self.retired.borrow().is_empty() {
            self.free_retired_if_much();
        }
    }

    /// Likewise, when a fiber has ended. Who resumed it runs on: if calls are active, that is put off as well. Otherwise the stack would be
    /// searched each time, for code that may run for long.
    #[inline(always)]
    pub(super) fn free_retired_behind_fiber(&self) {
        if !self.retired.borrow().is_empty() && (self.stack.is_idle() || self.is_much_retired()) {
            self.free_retired_if_much();
        }
    }

    fn is_much_retired(&self) -> bool {
        self.retired.borrow().len() >= self.many_retired.get()
    }

    #[cold]
    #[inline(never)]
    fn free_retired_if_much(&self) {
        if self.stack.others() == 0 || self.is_much_retired() {
            self.free_retired_now();
            // So all stacks are looked at once for several pieces of code, and for the more the more fibers there are.
            self.many_retired.set(2 * self.retired.borrow().len() + self.stack.others() / 16 + 8);
        }
    }

    fn free_retired_now(&self) {
        let mut retired = self.retired.borrow_mut();
        if retired.is_empty() {
            return;
        }
        if self.stack.is_idle() && self.stack.others() == 0 {
            retired.clear();
            return;
        }
        let spans = retired.iter().map(Retired::span).filter(|span| !span.is_empty());
        let span = spans.reduce(|all, span| all.start.min(span.start)..all.end.max(span.end));
        if let Some(words) = self.stack.words_in(span.unwrap_or_default()) {
            retired.retain(|code| code.is_among(&words));
        }
    }

    /// The numbers that baseline code decrements for calls and loop iterations, if functions tier up.
    pub(super) fn counters<'a>(&self, function: &'a Function<B>) -> Option<&'a [Cell<i32>; 2]> {
        self.tiers.threshold(Tier::Baseline).map(|_| function.tier.budget.counters())
    }

    /// Discards the code of an eighth of the functions whose code no call runs, least recently used first. Returns whether there
    /// were any.
    pub(super) fn evict(&self) -> bool {
        let functions = self.functions.borrow();
        let mut idle: Vec<&Rc<Function<B>>> =
            functions.iter().flatten().filter(|function| function.has_idle_code()).collect();
        idle.sort_by_key(|function| function.code.last_use());
        let count = idle.len().div_ceil(8);
        idle[..count].iter().for_each(|function| self.discard_code(function));
        self.counts.evicted(count);
        self.free_retired_now();
        count > 0
    }
}
