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
    /// Its stack, while it is suspended.
    pub(crate) stack: Cell<Option<Box<dyn Stack>>>,
    /// What a traceback says about its levels when it has failed.
    pub(crate) remains: RefCell<Vec<Vec<u8>>>,
    /// What handles the errors of its protected calls, while it is suspended.
    pub(crate) handlers: RefCell<Vec<Option<Value>>>,
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
    /// It runs.
    Running,
    /// It has resumed another one.
    Normal,
    /// It has ended.
    Dead,
}

impl Status {
    /// What `coroutine.status` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Suspended => "suspended",
            Status::Running => "running",
            Status::Normal => "normal",
            Status::Dead => "dead",
        }
    }
}

impl Thread {
    /// Marks what it has. What is on its stack changes when it runs: whoever suspends it has it traced again.
    pub(crate) fn trace(&self, marker: &mut Marker<'_>) -> usize {
        marker.object(self.function.header());
        self.globals.get().iter().for_each(|globals| marker.object(globals.header()));
        self.handlers.borrow().iter().flatten().for_each(|value| marker.value(*value));
        // The frames of one that runs are those of the program.
        if let Some(mut stack) = self.stack.take() {
            stack.trace(marker);
            self.stack.set(Some(stack));
        }
        size_of::<Self>() + std::mem::take(&mut marker.frames)
    }

    /// What it does.
    pub(crate) fn status(&self) -> Status {
        self.status.get()
    }
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
            stack: Cell::default(),
            remains: RefCell::default(),
            handlers: RefCell::default(),
        })
    }
}
