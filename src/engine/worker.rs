//! A thread that compiles while the engine runs.
//!
//! In: functions that have become hot. Out: their code, whenever it is ready; nobody waits for it. The engine looks now and
//! then, and is the one that puts code to use: all that other threads see is bytecode and the memory for code.
//!
//! A process that is copied has no such thread behind that, and nothing that it had in hand can be waited for.

use super::backend::watched;
use super::backend::{Compiled, Compiler};
use super::function::Body;
use super::links::Shared;
use crate::Error;
use crate::inside::{self, Form, Inside};
use azulejo_code::call::CallCell;
use azulejo_code::memory::fork;
use azulejo_core::ir::bytecode::Bytecode;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;

/// How large the thread's stack is, whatever the program's environment says of others.
const STACK: usize = 1 << 20;

/// How many jobs wait at most. Who finds the queue full asks again later, if the function is still hot then.
const JOBS: usize = 64;

/// What code is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Going on at a bytecode.
    Entry(u32),
    /// Calls of other functions, with so many arguments, by this call cell.
    Calls(u32, *const CallCell),
}

/// A function to compile.
pub(super) struct Job<B: Bytecode> {
    pub(super) request: Request,
    pub(super) body: Arc<Body<B>>,
    pub(super) functions: Shared,
}

/// Identifies a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) function: u32,
    pub(super) generation: u32,
    pub(super) purpose: Purpose,
}

/// What became of a job.
pub(super) struct Done {
    pub(super) request: Request,
    pub(super) result: Result<Compiled, Error>,
    /// What is known of the compilation, if there was one.
    pub(super) seen: Option<inside::Record>,
}

/// What goes from one thread to another.
struct Parcel<T>(T);

// SAFETY: bytecode consists of numbers, whatever their types (`Bytecode` is implemented by its derive only), and is only
// read. Call cells stay where they are until the thread has ended, and of a call cell only what never changes is read.
unsafe impl<T> Send for Parcel<T> {}

impl<T> Parcel<T> {
    fn open(self) -> T {
        self.0
    }
}

/// The thread, and the ways to it and back.
pub(super) struct Worker<B: Bytecode> {
    jobs: Option<SyncSender<Parcel<Job<B>>>>,
    done: Option<Receiver<Parcel<Done>>>,
    thread: Option<JoinHandle<()>>,
    /// Which process it is in.
    generation: usize,
}

impl<B: Bytecode> Worker<B> {
    /// Starts a thread; `None` if the system has none to give.
    pub(super) fn start(compiler: Compiler, inside: Inside) -> Option<Worker<B>> {
        let (jobs, to_do) = sync_channel::<Parcel<Job<B>>>(JOBS);
        let (ready, done) = channel();
        let work = move || {
            let mut compiler = compiler;
            for job in to_do {
                let job = job.open();
                if job.is_stale() {
                    continue;
                }
                let (result, seen) = match job.compile(&mut compiler, &inside) {
                    Ok((result, seen)) => (result, Some(seen)),
                    Err(error) => (Err(error), None),
                };
                if ready.send(Parcel(Done { request: job.request, result, seen })).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("azulejo".into()).stack_size(STACK).spawn(work).ok()?;
        let generation = fork::generation();
        Some(Worker { jobs: Some(jobs), done: Some(done), thread: Some(thread), generation })
    }

    /// Whether the thread is in another process, of which this one is a copy.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Hands a job over; whether there was room for it, if the thread is still there.
    pub(super) fn hand_over(&self, job: Job<B>) -> Option<bool> {
        match self.jobs.as_ref()?.try_send(Parcel(job)) {
            Ok(()) => Some(true),
            Err(TrySendError::Full(_)) => Some(false),
            Err(TrySendError::Disconnected(_)) => None,
        }
    }

    /// Whether the thread has ended, which it does only if the compiler fails.
    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What has been compiled since somebody asked.
    pub(super) fn finished(&self) -> Option<Done> {
        self.done.as_ref()?.try_recv().ok().map(Parcel::open)
    }
}

impl<B: Bytecode> Drop for Worker<B> {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // It may have been about to send or to take something, and is not here to go on with it.
            mem::forget((self.jobs.take(), self.done.take(), self.thread.take()));
        }
        // Nobody wants the results any more, so the thread ends with the function that it has in hand.
        self.jobs = None;
        self.done = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<B: Bytecode> Job<B> {
    /// Whether nobody wants it any more: the code that the function had was thrown away since, or the function removed.
    fn is_stale(&self) -> bool {
        self.body.generation() != self.request.generation
    }

    /// Gives what came of it, if it may be compiled at all.
    fn compile(
        &self,
        compiler: &mut Compiler,
        inside: &Inside,
    ) -> Result<(Result<Compiled, Error>, inside::Record), Error> {
        let subject = self.body.subject(match self.request.purpose {
            Purpose::Entry(at) => Form::Optimizer(at),
            Purpose::Calls(arguments, _) => Form::CallEntry(arguments),
        });
        let mut watch = inside.watch(&subject)?;
        let functions = self.functions.functions();
        let result = watched(compiler, &mut watch, |compiler, observer| match self.request.purpose {
            Purpose::Entry(at) => compiler.bytecode(&self.body.source(at, functions), observer),
            Purpose::Calls(arguments, cell) => {
                // SAFETY: the engine, whose call cell it is, waits for this thread before it ends.
                let cell = unsafe { &*cell };
                let source = self.body.source(0, functions);
                compiler.call_entry(&source, arguments, self.body.unit(), cell, observer)
            }
        });
        Ok((result, watch.record().clone()))
    }
}
