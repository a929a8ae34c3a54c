//! Tier-up in the background: another thread compiles, and the engine's thread polls for results.
//!
//! In: a hot function. Out: a request to the worker, and later the installed code.

use super::function::Function;
use super::tiers::Tier;
use super::worker::{Done, Job, Purpose, Request, Worker};
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::{RefCell, RefMut};
use std::sync::Arc;

/// After how many calls and loop iterations a function that waits for code polls again.
const RECHECK: i32 = 200;

/// The thread on which an engine compiles hot functions, if it does.
pub(super) struct Background<B: Bytecode> {
    worker: RefCell<Option<Worker<B>>>,
    is_wanted: bool,
}

impl<B: Bytecode> Background<B> {
    pub(super) fn new(is_wanted: bool) -> Background<B> {
        Background { worker: RefCell::new(None), is_wanted }
    }
}

impl<B: Bytecode> Engine<B> {
    /// Takes what the worker has made. Returns whether the function has got code for calls, so that there is nothing to compile.
    pub(super) fn comes_from_background(&self, function: &Function<B>) -> bool {
        // This may install the code, or evict code, so the caller's decision is made again.
        let was_direct = function.calls.is_direct();
        self.collect();
        // The function has a budget then: this may be the last of its calls in baseline code, or a call that found no code a moment ago, and
        // enters this one now.
        !was_direct && function.calls.is_direct()
    }

    /// Requests code of the optimizer with which a function resumes at a bytecode. Returns whether this thread has nothing to compile.
    pub(super) fn request_entry(&self, function: &Function<B>, at: u32) -> bool {
        let is_wanted =
            self.next_tier(function, at) == Some(Tier::Optimizer) && !function.code.has_optimized(at);
        is_wanted && self.request(function, Purpose::Entry(at))
    }

    /// The worker, if there is one in this process. After a fork the parent's worker does not exist in the child: its jobs are
    /// forgotten, so that functions request them again.
    fn worker(&self) -> RefMut<'_, Option<Worker<B>>> {
        let mut worker = self.background.worker.borrow_mut();
        if worker.as_ref().is_some_and(Worker::is_elsewhere) {
            *worker = None;
            self.functions.borrow().iter().flatten().for_each(|function| function.tier.end());
        }
        worker
    }

    /// Requests code of the optimizer, unless the function already waits for some. Returns whether there is a worker.
    pub(super) fn request(&self, function: &Function<B>, purpose: Purpose) -> bool {
        if !self.background.is_wanted {
            return false;
        }
        let mut worker = self.worker();
        if worker.as_ref().is_some_and(Worker::is_over) {
            return false;
        }
        function.tier.begin_budget(Some(RECHECK));
        if function.tier.is_in_progress() {
            return true;
        }
        if worker.is_none() {
            let compiler = self.backend.borrow().compiler_beside();
            *worker = compiler.and_then(|compiler| Worker::start(compiler, self.inside.clone()));
        }
        let input = self.optimizer_input(function);
        let links = self.links.borrow();
        let body = function.body().clone();
        let request = Request { function: function.number(), generation: body.generation(), purpose };
        let job = Job { request, body, functions: links.shared(), input };
        let taken = worker.as_ref().and_then(|worker| worker.hand_over(job));
        if taken == Some(true) {
            function.tier.begin();
        }
        taken.is_some()
    }

    /// Installs the code that the worker has finished.
    pub(super) fn collect(&self) {
        let next = || self.worker().as_ref().and_then(Worker::finished);
        while let Some(Done { request, body, result, seen }) = next() {
            seen.iter().for_each(|record| self.counts.compiled(record));
            let Ok(function) = self.known(FunctionId(request.function)) else { continue };
            // Another function may have the number by now.
            let is_there = function.made_body().is_some_and(|current| Arc::ptr_eq(current, &body));
            if !is_there || body.generation() != request.generation {
                continue;
            }
            function.tier.end();
            match (result, request.purpose) {
                (Ok(code), Purpose::Entry(at)) => {
                    self.install(function, at, code);
                    function.tier.begin_budget(self.tiers.threshold(Tier::Baseline));
                }
                (Ok(code), Purpose::Calls(..)) => self.install_for_calls(function, code),
                // The function requests it again; by then there may be room.
                (Err(Error::OutOfCodeMemory), _) if self.evict() => {}
                (Err(_), _) => function.tier.disable(),
            }
        }
    }
}
