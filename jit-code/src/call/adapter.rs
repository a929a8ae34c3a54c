//! Adapters: code that takes calls for a function whose code wants its arguments in a frame.
//!
//! In: the function's code, and which calls the adapter takes ([`AdapterTarget`]). Out: an [`Adapter`], which is entered like
//! code that was compiled for calls. The compiler decides what every machine decides alike; a machine's part is to emit the code.

use super::{CallCell, Host};
use crate::memory::Installed;
use azulejo_core::pass::build::FunctionSource;

/// The function that an adapter calls.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "a source is bytecode of any type")]
pub struct AdapterTarget<'a, F> {
    /// Which calls the adapter takes.
    pub accepts: Accepts,
    /// The function.
    pub source: &'a FunctionSource<'a>,
    /// Its code.
    pub code: TargetCode<F>,
    /// Where calls are counted down; below zero they are the host's.
    pub budget: Option<*const i32>,
    /// The function's cell.
    pub cell: &'a CallCell,
}

/// The number of arguments in the calls that an adapter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepts {
    /// This number; all other calls go to the cell's fallback.
    Exactly(u32),
    /// Up to so many, none of which is left in memory; all others are the host's.
    UpTo(u32),
}

/// The code that an adapter calls, on a machine with such frames.
#[derive(Clone, Copy, Debug)]
pub enum TargetCode<F> {
    /// It takes a frame with the values of VM registers, as an engine enters it.
    TakesFrame {
        /// Where it starts.
        entry: *const u8,
        /// What it is called with besides context and frame.
        third: *const (),
        /// How much of the machine's stack it takes.
        stack_bytes: usize,
        /// Whether the two words of the status that it gives are the other way round.
        is_turned: bool,
    },
    /// It runs in the adapter's own frame, which it takes back in the end.
    RunsInFrame {
        /// That frame.
        frame: F,
        /// Where in it the call cell is, the context, and the slots for the values of VM registers.
        places: [u32; 3],
        /// What `(cu)` is, if the code has it in a register.
        unit: Option<u64>,
        /// Where the code of the first bytecode starts.
        start: *const (),
    },
}

/// Which calls an adapter takes, and what it looks at before it makes a frame.
#[derive(Clone, Copy, Debug)]
pub struct AdapterAdmission<'a> {
    /// Those with this number of arguments.
    pub accepts: Accepts,
    /// Where they are counted down; below zero they are the host's.
    pub budget: Option<*const i32>,
    /// The function's cell.
    pub cell: &'a CallCell,
    /// How many slots the function has for the values of VM registers.
    pub slots: u32,
}

/// Where an adapter is entered: with arguments where calls have them, and with arguments in memory, if it takes those itself.
pub type Entries = (u32, Option<u32>);

/// Where functions of bytecode come in that others call.
#[derive(Debug)]
pub struct Adapter {
    installed: Installed,
    entry: u32,
    /// Where calls come in that leave their arguments in memory, if they may.
    from_memory: Option<u32>,
}

impl Adapter {
    /// One whose code is installed, and entered there.
    pub(crate) fn new(installed: Installed, (entry, from_memory): Entries) -> Adapter {
        Adapter { installed, entry, from_memory }
    }

    /// Where calls go.
    pub fn entry(&self) -> *const u8 {
        self.at(self.entry)
    }

    /// Where those go that leave their arguments in memory, if it takes them.
    pub fn memory_entry(&self) -> Option<*const u8> {
        self.from_memory.map(|at| self.at(at))
    }

    fn at(&self, place: u32) -> *const u8 {
        self.installed.address().wrapping_add(place as usize)
    }

    /// Whether it takes calls whatever the number of their arguments is.
    pub fn takes_any_number(&self) -> bool {
        self.from_memory.is_none()
    }

    /// The addresses of its code.
    pub fn addresses(&self) -> core::ops::Range<usize> {
        let start = self.installed.address().addr();
        start..start + self.installed.size()
    }
}

/// Which calls a function takes that others of bytecode call.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// Those with so many arguments; all others go to the cell's fallback.
    pub arguments: u32,
    /// The function.
    pub cell: &'a CallCell,
}

impl Admission<'_> {
    /// The address of what the function shares with those it calls.
    pub fn host(&self) -> u64 {
        core::ptr::from_ref::<Host>(self.cell.host()).addr() as u64
    }
}
