//! Coroutines on the heap.

use crate::object::function::Closure;
use crate::object::heap::{Gc, Header, Heap, Marker, ObjectKind};
use crate::object::table::Table;
use crate::object::value::Value;
use azulejo::Frames;
use std::cell::{Cell, RefCell};

/// A coroutine.
#[repr(C)]
pub struct Thread {
    header: Header,
    pub(crate) status: Cell<Status>,
    /// The function that it begins with.
    pub(crate) function: Gc<Closure>,
    /// Its table of global variables, if it is not the program's.
    pub(crate) globals: Cell<Option<Gc<Table>>>,
    /// The function of Rust that has resumed it, while it runs.
    pub(crate) resumer: Cell<*const ()>,
    /// The coroutine that has resumed it, while it runs; `None` if the program has.
    pub(crate) around: Cell<Option<Gc<Thread>>>,
    /// Its stack, since it has begun. While it runs only whoever has resumed it uses that.
    pub(crate) stack: Cell<Option<Box<dyn Stack>>>,
    /// What a traceback says about its levels when it has failed.
    pub(crate) remains: RefCell<Vec<Vec<u8>>>,
    /// What handles the errors of its protected calls, while it is suspended. While it runs, what handles those of its resumer.
    pub(crate) handlers: Cell<Vec<Option<Value>>>,
}

/// The stack of a coroutine that is suspended.
pub(crate) trait Stack {
    /// Marks what is in its frames.
    fn trace(&mut self, marker: &mut Marker<'_>);
    /// Its frames.
    fn frames(&mut self) -> Frames<'_>;
}

/// What a coroutine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It has not begun, or has yielded.
    Suspended,
    /// It runs, or has resumed another one.
    Running,
    /// It has ended.
    Dead,
}

impl Thread {
    /// Marks what it has. What is on its stack changes when it runs: whoever suspends it has it traced again.
    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        marker.object(self.function.header());
        self.globals.get().iter().for_each(|globals| marker.object(globals.header()));
        self.each_handler(|handler| marker.value(handler));
        self.with_stack(|stack| stack.into_iter().for_each(|stack| stack.trace(marker)));
        size_of::<Self>() + std::mem::take(&mut marker.frames)
    }

    /// What it does.
    pub(crate) fn status(&self) -> Status {
        self.status.get()
    }

    /// Looks at the handlers that it has now.
    pub(crate) fn each_handler(&self, look: impl FnMut(Value)) {
        let handlers = self.handlers.take();
        handlers.iter().flatten().copied().for_each(look);
        self.handlers.set(handlers);
    }

    /// It has ended, or never runs.
    pub(crate) fn end(&self) {
        self.status.set(Status::Dead);
        self.stack.set(None);
        self.handlers.take();
    }

    /// Uses its stack, if it is suspended and has begun. (The frames of one that runs are those of the program.)
    pub(crate) fn with_stack<T>(&self, work: impl FnOnce(Option<&mut dyn Stack>) -> T) -> T {
        if self.status() != Status::Suspended {
            return work(None);
        }
        let mut stack = self.stack.take();
        let result = work(stack.as_mut().map(|stack| &mut **stack as &mut dyn Stack));
        self.stack.set(stack);
        result
    }
}

/// A coroutine that runs and those around it: each was resumed by the next.
pub(crate) fn running(innermost: Option<Gc<Thread>>) -> impl Iterator<Item = Gc<Thread>> {
    std::iter::successors(innermost, |thread| thread.around.get())
}

impl Heap {
    /// A coroutine that calls a function.
    pub(crate) fn thread(&mut self, function: Gc<Closure>) -> Gc<Thread> {
        self.with_values(ObjectKind::Thread, &[], |header| Thread {
            header,
            status: Cell::new(Status::Suspended),
            function,
            globals: Cell::new(None),
            resumer: Cell::new(std::ptr::null()),
            around: Cell::new(None),
            stack: Cell::default(),
            remains: RefCell::default(),
            handlers: Cell::default(),
        })
    }
}
