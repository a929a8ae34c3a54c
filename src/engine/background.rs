//! Tiering up without waiting: another thread compiles, and this one looks now and then whether it is done.
//!
//! In: a hot function. Out: a request, and later its code put to use.

use super::function::Function;
use super::tiers::Tier;
use super::worker::{Done, Job, Purpose, Request, Worker};
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::RefMut;

/// How many calls and times around loops it takes until a function that waits for code looks again.
const RECHECK: i32 = 200;

impl<B: Bytecode> Engine<B> {
    /// The thread, if there is one in this process. What another process's thread was to compile is asked for again.
    fn worker(&self) -> RefMut<'_, Option<Worker<B>>> {
        let mut worker = self.worker.borrow_mut();
        if worker.as_ref().is_some_and(Worker::is_elsewhere) {
            *worker = None;
            self.functions.borrow().iter().flatten().for_each(|function| function.tier.end());
        }
        worker
    }

    /// Asks for code of the optimizer, unless the function waits for some already. Whether there is somebody to ask.
    pub(super) fn request(&self, function: &Function<B>, purpose: Purpose) -> bool {
        if !self.in_background {
            return false;
        }
        let mut worker = self.worker();
        if worker.as_ref().is_some_and(Worker::is_over) {
            return false;
        }
        function.tier.budget.set(Some(RECHECK));
        if function.tier.is_in_progress() {
            return true;
        }
        if worker.is_none() {
            let compiler = self.backend.borrow().compiler_beside();
            *worker = compiler.and_then(|compiler| Worker::start(compiler, self.inside.clone()));
        }
        let links = self.links.borrow();
        let body = function.body().clone();
        let request = Request { function: function.number(), generation: body.generation(), purpose };
        let job = Job { request, body, functions: links.shared() };
        let taken = worker.as_ref().and_then(|worker| worker.hand_over(job));
        if taken == Some(true) {
            function.tier.begin();
        }
        taken.is_some()
    }

    /// Puts to use what has been compiled meanwhile.
    pub(super) fn collect(&self) {
        let next = || self.worker().as_ref().and_then(Worker::finished);
        while let Some(Done { request, result, seen }) = next() {
            seen.iter().for_each(|record| self.counts.compiled(record));
            let Ok(function) = self.known(FunctionId(request.function)) else { continue };
            if function.body().generation() != request.generation {
                continue;
            }
            function.tier.end();
            match (result, request.purpose) {
                (Ok(code), Purpose::Entry(at)) => {
                    self.install(function, at, code);
                    function.tier.budget.set(self.tiers.threshold(Tier::Baseline));
                }
                (Ok(code), Purpose::Calls(..)) => self.install_for_calls(function, code),
                // It asks again, when there may be room.
                (Err(Error::OutOfCodeMemory), _) if self.evict() => {}
                (Err(_), _) => function.tier.disable(),
            }
        }
    }
}
