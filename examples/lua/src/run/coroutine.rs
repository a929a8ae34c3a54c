//! Coroutines that run: functions of Lua on fibers.
//!
//! In: a coroutine, and what it is resumed with. Out: what it yields or returns. A coroutine has a stack of its own from its first
//! resumption to its end.

use crate::object::function::Closure;
use crate::object::heap::{Gc, Marker};
use crate::object::table::Table;
use crate::object::thread::{Stack, Status, Thread};
use crate::object::value::{FUNCTION, Value};
use crate::run::bytecode::Op;
use crate::run::error::{Result, Thrown};
use crate::run::roots::trace_frames;
use crate::run::vm::{Failure, Vm, function_of};
use azulejo::{Fiber, Frames, Resumed};

/// The stack of a coroutine.
struct FiberStack(Fiber<'static, Op>);

impl Stack for FiberStack {
    fn trace(&mut self, marker: &mut Marker<'_>) {
        trace_frames(&self.0.frames(), marker);
    }

    fn frames(&mut self) -> Frames<'_> {
        self.0.frames()
    }
}

/// How many coroutines may resume each other: as many calls of C as C's Lua has, without the two that run a program.
const MOST_NESTED: usize = 198;

/// When this is dropped, a panic has ended a coroutine.
struct Panicked {
    vm: *mut Vm,
    thread: Gc<Thread>,
}

impl Drop for Panicked {
    #[cold]
    fn drop(&mut self) {
        let Panicked { vm, thread } = *self;
        // SAFETY: the program is there, and the coroutine does not use it any more.
        unsafe { &mut *vm }.come_back(thread);
        thread.end();
    }
}

impl Vm {
    /// Runs a coroutine until it yields or ends. What it yields or returns are the results then, the first of which this returns.
    // Inlined as the switch in it is: each return behind a switch is one that the processor predicts wrong.
    #[inline(always)]
    pub(crate) fn resume(&mut self, thread: Gc<Thread>, arguments: &[Value]) -> Result<Value> {
        if thread.status() != Status::Suspended || self.nested >= MOST_NESTED {
            return self.not_resumed(thread);
        }
        // SAFETY: it is suspended, so nobody uses its stack, and as long as it runs nobody else does. It has the stack until it ends.
        let stack = unsafe { &mut *thread.stack.as_ptr() };
        let (stack, first) = match stack {
            Some(stack) => (stack, self.results.give(arguments)),
            None => match self.begin(thread, arguments) {
                Ok(fiber) => (stack.insert(Box::new(FiberStack(fiber))), Value::NIL),
                Err(error) => return self.has_failed(error),
            },
        };
        // SAFETY: all stacks are fibers. Nothing else here implements the trait.
        let FiberStack(fiber) = unsafe { &mut *(&raw mut **stack).cast::<FiberStack>() };
        self.enter(thread);
        let panicked = Panicked { vm: self, thread };
        // SAFETY: the program is not used meanwhile but by the coroutine.
        let resumed = fiber.resume(unsafe { &mut *panicked.vm }, first.0);
        std::mem::forget(panicked);
        self.come_back(thread);
        if let Ok(Resumed::Suspended(first)) = resumed {
            thread.status.set(Status::Suspended);
            // Its frames may have got what was not reached before.
            self.heap.again(thread.header());
            return Ok(Value(first));
        }
        self.end(thread, resumed)
    }

    /// The coroutine is the one that runs from now on.
    #[inline(always)]
    fn enter(&mut self, thread: Gc<Thread>) {
        thread.status.set(Status::Running);
        thread.around.set(self.coroutine.replace(thread));
        thread.resumer.set(self.running.cast());
        self.nested += 1;
        self.exchange_handlers(thread);
    }

    /// Goes on with the coroutine, or the program, that has resumed this one.
    #[inline(always)]
    fn come_back(&mut self, thread: Gc<Thread>) {
        self.exchange_handlers(thread);
        self.nested -= 1;
        self.coroutine = thread.around.get();
    }

    /// The handlers of a coroutine take the place of those of its resumer, or the other way round. The collector finds both: those of all that
    /// run are roots.
    #[inline(always)]
    fn exchange_handlers(&mut self, thread: Gc<Thread>) {
        // SAFETY: nobody else uses the coroutine's, and these are not the same.
        unsafe { std::ptr::swap(&mut self.handlers, thread.handlers.as_ptr()) };
    }

    /// What `coroutine.status` says of one.
    pub(crate) fn status_of(&self, thread: Gc<Thread>) -> &'static str {
        match thread.status() {
            Status::Suspended => "suspended",
            Status::Running if self.coroutine == Some(thread) => "running",
            Status::Running => "normal",
            Status::Dead => "dead",
        }
    }

    #[cold]
    #[inline(never)]
    fn not_resumed(&mut self, thread: Gc<Thread>) -> Result<Value> {
        self.error = match thread.status() {
            Status::Suspended => {
                if thread.with_stack(|stack| stack.is_none()) {
                    // In C's Lua the message has taken the place of the function.
                    thread.end();
                }
                self.text("C stack overflow")
            }
            _ => self.text(&format!("cannot resume {} coroutine", self.status_of(thread))),
        };
        Err(Thrown::Error)
    }

    /// A coroutine has ended like this.
    #[inline(never)]
    fn end(
        &mut self,
        thread: Gc<Thread>,
        resumed: std::result::Result<Resumed, azulejo::Error>,
    ) -> Result<Value> {
        thread.end();
        match resumed {
            Ok(Resumed::Returned(value) | Resumed::Suspended(value)) => Ok(Value(value)),
            Err(error) => self.has_failed(error),
        }
    }

    /// Fails as a coroutine has. Its own handlers have seen that.
    fn has_failed(&mut self, error: azulejo::Error) -> Result<Value> {
        match self.failure(error) {
            Failure::Thrown(thrown) => Err(thrown),
            Failure::Engine(error) => {
                self.error = self.error_value(error);
                Err(Thrown::Error)
            }
        }
    }

    #[inline(never)]
    fn begin(
        &self,
        thread: Gc<Thread>,
        arguments: &[Value],
    ) -> std::result::Result<Fiber<'static, Op>, azulejo::Error> {
        let closure = thread.function;
        let (function, itself) = (function_of(closure), Value::object(FUNCTION, closure).0);
        match *arguments {
            [] => self.engine.owned_fiber(function, (itself,)),
            [a] => self.engine.owned_fiber(function, (itself, a.0)),
            [a, b] => self.engine.owned_fiber(function, (itself, a.0, b.0)),
            _ => {
                let all: Vec<u64> =
                    std::iter::once(itself).chain(arguments.iter().map(|value| value.0)).collect();
                self.engine.owned_fiber(function, &all[..])
            }
        }
    }

    /// The table that functions which are loaded have their global variables in.
    pub(crate) fn globals(&self) -> Gc<Table> {
        self.coroutine.and_then(|thread| thread.globals.get()).unwrap_or(self.globals)
    }

    /// Changes that, for the coroutine that runs.
    pub(crate) fn set_globals(&mut self, to: Gc<Table>) {
        match self.coroutine {
            Some(thread) => {
                thread.globals.set(Some(to));
                self.heap.again(thread.header());
            }
            None => self.globals = to,
        }
    }

    /// A coroutine that calls a function. It has the global variables of the one that runs.
    pub(crate) fn new_thread(&mut self, function: Gc<Closure>) -> Gc<Thread> {
        let globals = self.coroutine.and_then(|thread| thread.globals.get());
        let thread = self.heap.thread(function);
        thread.globals.set(globals);
        thread
    }
}
