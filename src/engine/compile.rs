//! Compiling functions, and throwing their code away.
//!
//! In: functions, on request or because they are hot. Out: code that later calls run. Code that is thrown away is kept as long
//! as a call may run it. What memory is full of makes room for what is asked for now.

use super::backend::Compiled;
use super::function::Function;
use super::tiers::Tier;
use super::{Engine, FunctionId, stack};
use crate::Error;
use crate::inside::{Form, Watch};
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// How far [`Engine::compile_all`] is.
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
    /// How many functions it has tried.
    pub done: usize,
    /// How many it is to try.
    pub all: usize,
    /// The last one.
    pub function: FunctionId,
    /// Whether that one could be compiled.
    pub result: Result<(), Error>,
}

impl<B: Bytecode> Engine<B> {
    /// Compiles a function with the optimizer; calls that start from now on run the machine code.
    ///
    /// If the memory for code is full, other functions lose theirs: see [`Builder::code_bytes`](crate::Builder::code_bytes). A
    /// thread with too little stack left for a compiler is told [`Error::StackOverflow`].
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

    /// Compiles a function for a tier now, whatever it has been through; for the interpreter there is nothing to do. What other
    /// functions of bytecode use that call it is made, too, if it is known with how many arguments they do: by
    /// [`Code::with_arguments`](crate::Code::with_arguments), or because one has called it.
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
            // A program that looks for a fault is to go on as it would have.
            Err(Error::Limited) => Ok(()),
            Ok(()) => {
                #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
                self.prepare_for_calls(function);
                Ok(())
            }
            result => result,
        }
    }

    /// Compiles functions for a tier, one after another, and tells of each how that went and how many there still are. What
    /// cannot be compiled does not keep the others from it. Ends early if it is told to; gives how many are compiled.
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

    /// Compiles a function to start at a bytecode, unless that has been done.
    pub(super) fn compile_for(&self, function: &Function<B>, tier: Tier, at: u32) -> Result<(), Error> {
        match tier {
            Tier::Baseline if !function.code.has_baseline() => {
                let code = self.watched(function, Form::Baseline, |watch| {
                    let counter = self.counter(function).map(std::ptr::from_ref);
                    let bytecode = function.body().bytecode(counter);
                    let (mut backend, links) = (self.backend.borrow_mut(), self.links.borrow());
                    let code = backend.baseline(&bytecode, links.functions(), watch)?;
                    if let Some(trace) = watch.trace() {
                        trace.baseline(code.bytes(), code.entry().addr() as u64, &code.map());
                    }
                    Ok(code)
                })?;
                function.code.set_baseline(code);
            }
            Tier::Optimizer if !function.code.has_optimized(at) => {
                let code = self.watched(function, Form::Optimizer(at), |watch| {
                    let links = self.links.borrow();
                    let source = function.body().source(at, links.functions());
                    self.backend.borrow_mut().compile(&source, watch)
                })?;
                self.install(function, at, code);
            }
            _ => {}
        }
        Ok(())
    }

    /// Compiles a function for who wants to see it, and counts that. What is in the way makes room.
    pub(super) fn watched<T>(
        &self,
        function: &Function<B>,
        form: Form,
        compile: impl Fn(&mut Watch<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        stack::demand_for_compiling()?;
        let subject = function.body().subject(form);
        self.making_room(|| {
            let mut watch = self.inside.watch(&subject)?;
            let result = compile(&mut watch);
            self.counts.compiled(watch.record());
            result
        })
    }

    /// Makes something that takes memory for code; again, as long as that is full and code can be thrown away.
    pub(super) fn making_room<T>(&self, make: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        loop {
            match make() {
                Err(Error::OutOfCodeMemory) if self.evict() => {}
                result => return result,
            }
        }
    }

    /// Has a function run this code of the optimizer from a bytecode on.
    pub(super) fn install(&self, function: &Function<B>, at: u32, code: Compiled) {
        function.code.set_optimized(at, code);
        if !function.calls.is_direct() {
            // If other functions call it, then by an adapter to the baseline's code. The next one has it compiled for calls, too:
            // whoever is hot in a loop is worth it.
            self.close(function);
        } else if at == 0 {
            self.close_fallback(function);
        }
    }

    /// Throws the machine code of a function away; calls that start from now on are interpreted. Its memory is free for
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

    /// Has calls from other functions come to the engine, until there is an adapter again.
    pub(super) fn close(&self, function: &Function<B>) {
        if let Some(retired) = function.close() {
            self.links.borrow().close(function.number());
            self.retired.borrow_mut().push(retired);
        }
    }

    /// Has calls with another number of arguments than most have come to the engine.
    fn close_fallback(&self, function: &Function<B>) {
        if let Some(retired) = function.close_fallback() {
            self.links.borrow().close_fallback(function.number());
            self.retired.borrow_mut().push(retired);
        }
    }

    /// Frees the code that was thrown away and to which no call returns any more.
    pub(super) fn free_retired(&self) {
        let mut retired = self.retired.borrow_mut();
        if retired.is_empty() {
            return;
        }
        if !self.stack.is_in_use() {
            retired.clear();
        } else if let Some(words) = self.stack.words() {
            retired.retain(|code| code.is_among(&words));
        }
    }

    /// Where baseline code counts calls and loops, if it does.
    pub(super) fn counter<'a>(&self, function: &'a Function<B>) -> Option<&'a Cell<i32>> {
        self.tiers.threshold(Tier::Baseline).map(|_| function.tier.budget.counter())
    }

    /// Throws away an eighth of the code that no call runs, the longest unused first; whether there was any.
    pub(super) fn evict(&self) -> bool {
        let functions = self.functions.borrow();
        let mut idle: Vec<&Rc<Function<B>>> =
            functions.iter().flatten().filter(|function| function.has_idle_code()).collect();
        idle.sort_by_key(|function| function.code.last_use());
        let count = idle.len().div_ceil(8);
        idle[..count].iter().for_each(|function| self.discard_code(function));
        self.counts.evicted(count);
        self.free_retired();
        count > 0
    }
}
