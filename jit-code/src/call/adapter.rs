//! Adapters: code that takes calls for a function whose code needs its arguments in a frame.
//!
//! In: the function's code, and the calls that the adapter takes ([`AdapterTarget`]). Out: an [`Adapter`], which is entered
//! like code compiled for calls. The compiler makes the decisions that are the same for all machines; a machine only emits the
//! code.

use super::{CallCell, Host, KeptValues};
use crate::memory::Installed;
use azulejo_core::pass::build::{FunctionSource, NeededAtStart};

/// The function that an adapter calls.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "a source is bytecode of any type")]
pub struct AdapterTarget<'a, F> {
    /// The calls that the adapter takes.
    pub accepts: Accepts,
    /// The function.
    pub source: &'a FunctionSource<'a>,
    /// The registers that it needs.
    pub needed: &'a NeededAtStart,
    /// Its code.
    pub code: TargetCode<F>,
    /// The counter of calls; a call that takes it below zero goes to the host.
    pub budget: Option<*const i32>,
    /// The function's cell.
    pub cell: &'a CallCell,
}

/// The number of arguments in the calls that an adapter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepts {
    /// This number; all other calls go to the cell's fallback.
    Exactly(u32),
    /// Up to this many, all passed in registers or on the stack; all other calls go to the host.
    UpTo(u32),
}

/// The code that an adapter calls, on a machine with this type of frame.
#[derive(Clone, Copy, Debug)]
pub enum TargetCode<F> {
    /// The code takes a frame with the values of VM registers, as an engine enters it.
    TakesFrame {
        /// The entry of the code.
        entry: *const u8,
        /// The third argument, besides context and frame.
        third: *const (),
        /// How many bytes of the machine's stack the code takes.
        stack_bytes: usize,
        /// Whether the code returns the two words of its status in swapped order.
        is_turned: bool,
    },
    /// The code runs in the adapter's own frame, and drops it in the end.
    RunsInFrame {
        /// The frame.
        frame: F,
        /// The offsets in it of the call cell, the context, and the slots for VM registers.
        places: [u32; 3],
        /// What the code keeps in registers.
        kept: KeptValues,
        /// The address of the first bytecode's code.
        start: *const (),
    },
}

/// The slots of arguments that a call may lack, and the value that they have then. None of them is cleared.
#[derive(Clone, Copy, Debug)]
pub struct MissingArguments<'a> {
    /// The slots.
    pub slots: &'a [u32],
    /// The value.
    pub bits: u64,
}

/// The calls that an adapter takes, and the checks before it makes a frame.
#[derive(Clone, Copy, Debug)]
pub struct AdapterAdmission<'a> {
    /// The number of arguments.
    pub accepts: Accepts,
    /// The counter of calls; a call that takes it below zero goes to the host.
    pub budget: Option<*const i32>,
    /// The function's cell.
    pub cell: &'a CallCell,
    /// How many slots the function has for the values of VM registers.
    pub slots: u32,
    /// The arguments that calls may lack.
    pub missing: MissingArguments<'a>,
    /// The arguments that have slots, of those in the calls: the surplus stays where it is.
    pub placed: Accepts,
    /// Whether an adapter for up to some number of arguments takes calls with more.
    pub drops_surplus: bool,
}

/// An adapter's entries: for calls by the convention, and for calls with arguments in memory, if it takes those itself.
pub type Entries = (u32, Option<u32>);

/// The installed code of an adapter.
#[derive(Debug)]
pub struct Adapter {
    installed: Installed,
    entry: u32,
    /// The entry for calls with arguments in memory, if it takes them.
    from_memory: Option<u32>,
}

impl Adapter {
    /// An adapter with this code and these entries.
    pub(crate) fn new(installed: Installed, (entry, from_memory): Entries) -> Adapter {
        Adapter { installed, entry, from_memory }
    }

    /// The entry for calls.
    pub fn entry(&self) -> *const u8 {
        self.at(self.entry)
    }

    /// The entry for calls with arguments in memory, if it takes them.
    pub fn memory_entry(&self) -> Option<*const u8> {
        self.from_memory.map(|at| self.at(at))
    }

    fn at(&self, place: u32) -> *const u8 {
        self.installed.address().wrapping_add(place as usize)
    }

    /// Whether it takes calls with any number of arguments.
    pub fn takes_any_number(&self) -> bool {
        self.from_memory.is_none()
    }

    /// The address range of its code.
    pub fn addresses(&self) -> core::ops::Range<usize> {
        let start = self.installed.address().addr();
        start..start + self.installed.size()
    }
}

/// The calls that a function compiled for calls takes.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// The number of arguments; all other calls go to the cell's fallback.
    pub arguments: u32,
    /// The function.
    pub cell: &'a CallCell,
}

impl Admission<'_> {
    /// The address of the function's host.
    pub fn host(&self) -> u64 {
        core::ptr::from_ref::<Host>(self.cell.host()).addr() as u64
    }
}
