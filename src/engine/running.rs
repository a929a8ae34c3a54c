//! The machine stack that a thread runs on: its own, or that of a fiber.
//!
//! In: switches from one stack to another. Out: the bounds of the running stack, the part of each stack that is in use, a way to
//! run something on the thread's own stack, and [`suspend`].
//!
//! A fiber is suspended only if nothing but bytecode runs between its start and the call of [`suspend`]: no function of Rust
//! that holds a reference to the context. Two things see to that. Nobody but a template can make the argument of [`suspend`],
//! and it goes with no reference in one call. And each thread counts the calls that were made from Rust, of all its engines:
//! there must be as many as when the fiber was resumed.

use super::stack::here;
use super::stacks::Yielder;
use super::thread;
use azulejo_core::native::{Call, Passed, access, kind};
use azulejo_core::vocab::Trap;
use std::cell::Cell;
use std::ops::Range;
use std::ptr;

/// What a fiber is resumed with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    /// The value that [`suspend`] returns.
    With(u64),
    /// The fiber is to end: [`suspend`] fails.
    End,
}

/// A fiber as its thread sees it.
#[derive(Debug)]
pub(crate) struct Running {
    /// The addresses of its stack.
    stack: Range<usize>,
    /// The lowest address that is in use while another stack runs.
    left_at: Cell<usize>,
    /// The fiber that resumed this one; null if none did.
    parent: Cell<*const Running>,
    /// How many calls were active on the thread when this fiber was resumed.
    calls: Cell<usize>,
    /// Null before it starts.
    yielder: Cell<*const Yielder<Wake, u64>>,
}

struct Thread {
    /// The fiber that runs; null if none does.
    running: Cell<*const Running>,
    /// The lowest address of the thread's own stack that is in use while a fiber runs.
    left_at: Cell<usize>,
    /// How many calls are active that were made from Rust, of any engine.
    calls: Cell<usize>,
}

thread_local! {
    static THREAD: Thread =
        const { Thread { running: Cell::new(ptr::null()), left_at: Cell::new(0), calls: Cell::new(0) } };
}

/// Counts a call from Rust.
#[inline(always)]
pub(crate) fn begin_call() {
    THREAD.with(|thread| thread.calls.set(thread.calls.get() + 1));
}

/// Counts the end of a call from Rust.
#[inline(always)]
pub(crate) fn end_call() {
    THREAD.with(|thread| thread.calls.set(thread.calls.get() - 1));
}

/// The fiber that runs; null if none does.
#[inline(always)]
pub(crate) fn current() -> *const Running {
    THREAD.with(|thread| thread.running.get())
}

/// The bounds of the running stack: the fiber's, or the thread's if the system tells them.
#[inline]
pub(crate) fn stack() -> Option<Range<usize>> {
    // SAFETY: a fiber that runs exists.
    match unsafe { current().as_ref() } {
        Some(running) => Some(running.stack.clone()),
        None => thread::stack(),
    }
}

/// The part of a stack below an address that is in use. `on` is the stack's fiber; null stands for the thread's own stack. `None`
/// if the stack's bounds are not known.
///
/// # Safety
///
/// The fiber must exist.
pub(crate) unsafe fn used_below(on: *const Running, address: usize) -> Option<Range<usize>> {
    let marker = 0usize;
    // Exposed, because the memory around it is read.
    let here = std::hint::black_box((&raw const marker).expose_provenance());
    // SAFETY: as the caller promises.
    let (stack, left_at) = match unsafe { on.as_ref() } {
        Some(running) => (running.stack.clone(), running.left_at.get()),
        None => (thread::stack()?, THREAD.with(|thread| thread.left_at.get())),
    };
    let lowest = if on == current() { here } else { left_at };
    let is_known = stack.contains(&lowest) && lowest <= address && address <= stack.end;
    is_known.then_some(lowest.next_multiple_of(size_of::<usize>())..address)
}

impl Running {
    /// A fiber that has not started, on this stack.
    pub(crate) fn new(stack: Range<usize>) -> Running {
        Running {
            stack,
            left_at: Cell::new(0),
            parent: Cell::new(ptr::null()),
            calls: Cell::new(0),
            yielder: Cell::new(ptr::null()),
        }
    }

    /// Sets by what the fiber is suspended, when it starts.
    pub(crate) fn start(&self, yielder: &Yielder<Wake, u64>) {
        self.yielder.set(yielder);
    }

    /// Makes this the fiber that runs. The stack of the resumer is in use down to the caller's frame.
    #[inline(always)]
    pub(crate) fn enter(&self) {
        THREAD.with(|thread| {
            let parent = thread.running.replace(self);
            self.parent.set(parent);
            self.calls.set(thread.calls.get());
            // SAFETY: a fiber that runs exists.
            unsafe { parent.as_ref() }.map_or(&thread.left_at, |parent| &parent.left_at).set(here());
        });
    }

    /// Makes its resumer run again.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        THREAD.with(|thread| thread.running.set(self.parent.get()));
    }
}

/// The value that a program passes to [`suspend`]. Only templates make it, of an `i64`, a `u64` or a `ptr`.
///
/// ```
/// use azulejo::prelude::*;
/// use azulejo::suspend;
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Yield { a: In<i64> },
///     Return,
/// }
/// template! {
///     Op::Yield  => (discard (call throws suspend (arglist (carg $a i64)) u64))
///     Op::Return => (return)
/// }
/// # let engine = Engine::<Op>::new();
/// # let code = vec![Op::Yield { a: 0.into() }, Op::Return];
/// # let function = engine.define("yield", code, 1)?;
/// # assert_eq!(engine.call::<_, ()>(function, &mut (), ()), Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Suspension<'call> {
    value: u64,
    /// It is there for one call, and stays on the thread.
    _call: &'call Call,
    _thread: std::marker::PhantomData<*const ()>,
}

macro_rules! suspended_with {
    ($($kind:ident)*) => {$(
        impl<'call> Passed<'call, kind::$kind> for Suspension<'call> {
            // As if it were an exclusive reference: no function takes this beside a reference.
            type Access = access::Exclusive;
            #[inline(always)]
            unsafe fn passed(call: &'call Call, value: i64) -> Self {
                Suspension { value: value as u64, _call: call, _thread: std::marker::PhantomData }
            }
        }
    )*};
}
suspended_with!(i64 u64 ptr trusted);

/// Suspends the fiber that runs: its [`resume`](crate::Fiber::resume) returns this value, and the next one's value is what this
/// function returns. Only templates can call it.
///
/// If no fiber runs, it fails with [`Trap::NotInFiber`]; if a Rust function that a template called has made a call of an engine,
/// and this is part of that call, with [`Trap::AcrossRust`].
///
/// ```
/// use azulejo::prelude::*;
/// use azulejo::{Resumed, suspend};
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Yield { dst: Out<u64>, a: In<u64> },
///     Return { a: In<u64> },
/// }
/// template! {
///     Op::Yield  => (call throws suspend (arglist (carg $a u64)) u64)
///     Op::Return => (return $a)
/// }
///
/// let engine = Engine::<Op>::new();
/// let code = vec![Op::Yield { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
/// let function = engine.define("echo", code, 1)?;
/// # if azulejo::can_switch() {
/// let mut fiber = engine.fiber(function, (1u64,))?;
/// assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Suspended(1));
/// assert_eq!(fiber.resume(&mut (), 2)?, Resumed::Returned(2));
/// # }
/// let outside: Result<u64, Error> = engine.call(function, &mut (), (1u64,));
/// assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }));
/// # Ok::<(), Error>(())
/// ```
#[inline(always)]
pub fn suspend(value: Suspension<'_>) -> Result<u64, Trap> {
    let Suspension { value, .. } = value;
    let (running, calls) = THREAD.with(|thread| (thread.running.get(), thread.calls.get()));
    // SAFETY: a fiber that runs exists.
    let running = unsafe { running.as_ref() }.ok_or(Trap::NotInFiber)?;
    if calls != running.calls.get() {
        return Err(Trap::AcrossRust);
    }
    running.left_at.set(here());
    // SAFETY: the fiber has started, so the yielder is set; it lives on the stack that this runs on.
    match unsafe { &*running.yielder.get() }.suspend(value) {
        Wake::With(value) => Ok(value),
        Wake::End => Err(Trap::Ended),
    }
}

/// Makes the thread's own stack, and again the fiber that ran, the running one.
struct Away(*const Running);

impl Drop for Away {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.running.set(self.0));
    }
}

/// A closure that runs on this very thread, although on another stack.
struct Errand<'a>(&'a mut dyn FnMut());

// SAFETY: it does not leave the thread. What the bound is to prevent, that a fiber is suspended by code that runs on its parent's
// stack, `suspend` refuses: no fiber runs meanwhile.
unsafe impl Send for Errand<'_> {}

impl Errand<'_> {
    fn run(self) {
        (self.0)();
    }
}

/// Runs something on the thread's own stack, which has room for compilers and for whatever Rust functions do. Stays where it is
/// if no fiber runs.
pub(crate) fn on_thread_stack<R>(run: impl FnOnce() -> R) -> R {
    if current().is_null() {
        return run();
    }
    let (mut run, mut result) = (Some(run), None);
    let mut job = || result = run.take().map(|run| run());
    let innermost = THREAD.with(|thread| thread.running.replace(ptr::null()));
    let _back = Away(innermost);
    // SAFETY: a fiber that runs exists.
    unsafe { &*innermost }.left_at.set(here());
    climb(innermost, &mut job);
    result.expect("the job was done")
}

/// Does a job on the stack of whoever resumed a fiber first.
fn climb(running: *const Running, job: &mut dyn FnMut()) {
    // SAFETY: the fiber is one of those that run or wait for one that they resumed, so it exists.
    match unsafe { running.as_ref() } {
        None => job(),
        Some(running) => {
            let mut next = || climb(running.parent.get(), job);
            let next = Errand(&mut next);
            // SAFETY: the fiber has started, and runs on the stack that this runs on.
            unsafe { &*running.yielder.get() }.on_parent_stack(move || next.run());
        }
    }
}
