//! A thread that compiles while the engine runs.
//!
//! In: functions that have become hot. Out: their code, when it is ready; the engine polls for it and never waits. Only the
//! engine's thread installs code: the worker sees nothing but bytecode and the code memory.
//!
//! After a fork the child process has no such thread, and must not wait for the jobs that the thread was working on.

use super::function::Body;
use super::inlining::OptimizerInput;
use super::native::{Compiled, Compiler, Shared, watched};
use crate::Error;
use crate::inside::{self, Form, Inside, NothingLearned};
use azulejo_code::call::CallCell;
use azulejo_code::memory::fork;
use azulejo_core::ir::bytecode::Bytecode;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;

/// The size of the thread's stack in bytes, whatever the environment sets for other threads.
const STACK: usize = 1 << 20;

/// The capacity of the queue of jobs. If it is full, a function requests its code again later, if it is still hot then.
const JOBS: usize = 64;

/// The purpose for which code is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// To resume at a bytecode.
    Entry(u32),
    /// For calls from other functions, with this number of arguments, by this call cell.
    Calls(u32, *const CallCell),
}

/// A function to compile.
pub(super) struct Job<B: Bytecode> {
    pub(super) request: Request,
    pub(super) body: Arc<Body<B>>,
    pub(super) functions: Shared,
    /// What was known when the job was queued.
    pub(super) input: OptimizerInput<B>,
}

/// Identifies a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) function: u32,
    pub(super) generation: u32,
    pub(super) purpose: Purpose,
}

/// A finished job.
pub(super) struct Done<B: Bytecode> {
    pub(super) request: Request,
    pub(super) body: Arc<Body<B>>,
    pub(super) result: Result<Compiled, Error>,
    /// The record of the compilation, if there was one.
    pub(super) seen: Option<inside::Record>,
}

/// A message from one thread to another.
struct Parcel<T>(T);

// SAFETY: bytecode consists of numbers, whatever their types (`Bytecode` is implemented by its derive only), and is only
// read. Call cells do not move until the thread has ended, and only their immutable fields are read.
unsafe impl<T> Send for Parcel<T> {}

impl<T> Parcel<T> {
    fn open(self) -> T {
        self.0
    }
}

/// The thread, with the channels to it and back.
pub(super) struct Worker<B: Bytecode> {
    jobs: Option<SyncSender<Parcel<Job<B>>>>,
    done: Option<Receiver<Parcel<Done<B>>>>,
    thread: Option<JoinHandle<()>>,
    /// The fork generation of the process that the thread runs in.
    generation: usize,
}

impl<B: Bytecode> Worker<B> {
    /// Starts a thread; `None` if the system cannot create one.
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
                if ready.send(Parcel(Done { request: job.request, body: job.body, result, seen })).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("azulejo".into()).stack_size(STACK).spawn(work).ok()?;
        let generation = fork::generation();
        Some(Worker { jobs: Some(jobs), done: Some(done), thread: Some(thread), generation })
    }

    /// Whether the thread is in another process, from which this one was forked.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Queues a job. Returns whether there was room for it; `None` if the thread has ended.
    pub(super) fn hand_over(&self, job: Job<B>) -> Option<bool> {
        match self.jobs.as_ref()?.try_send(Parcel(job)) {
            Ok(()) => Some(true),
            Err(TrySendError::Full(_)) => Some(false),
            Err(TrySendError::Disconnected(_)) => None,
        }
    }

    /// Whether the thread has ended, which happens only if the compiler panics.
    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Takes the next finished job, if there is one.
    pub(super) fn finished(&self) -> Option<Done<B>> {
        self.done.as_ref()?.try_recv().ok().map(Parcel::open)
    }
}

impl<B: Bytecode> Drop for Worker<B> {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // The thread may have held the channels' locks at the fork, and will never release them in this process. So
            // nothing is dropped.
            mem::forget((self.jobs.take(), self.done.take(), self.thread.take()));
        }
        // With both channels closed, the thread ends after the function that it is compiling.
        self.jobs = None;
        self.done = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<B: Bytecode> Job<B> {
    /// Whether the result would be unused: since the request the function's code was discarded, or the function removed.
    fn is_stale(&self) -> bool {
        self.body.generation() != self.request.generation
    }

    /// Compiles the function. Returns the result with its record; an error if the limits do not admit it.
    fn compile(
        &self,
        compiler: &mut Compiler,
        inside: &Inside,
    ) -> Result<(Result<Compiled, Error>, inside::Record), Error> {
        let form = match self.request.purpose {
            Purpose::Entry(at) => Form::Optimizer(at),
            Purpose::Calls(arguments, _) => Form::CallEntry(arguments),
        };
        let subject = self.body.subject(self.input.snapshot.ops(&self.body), form, &NothingLearned);
        let mut watch = inside.watch(&subject)?;
        let at = if let Purpose::Entry(at) = self.request.purpose { at } else { 0 };
        let result = self.input.with_source(&self.body, at, self.functions.functions(), |source| {
            watched(compiler, &mut watch, |compiler, observer| match self.request.purpose {
                Purpose::Entry(_) => compiler.bytecode(source, observer),
                Purpose::Calls(arguments, cell) => {
                    // SAFETY: the engine that owns the call cell joins this thread before it is dropped.
                    let cell = unsafe { &*cell };
                    compiler.call_entry(source, arguments, self.body.unit(), cell, observer)
                }
            })
        });
        Ok((result, watch.record().clone()))
    }
}
