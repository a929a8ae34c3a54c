//! How compiled code reports why it returned.

use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Trap;

/// The reason why compiled code returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The function is done; the bits of its result.
    Returned(u64),
    /// The interpreter resumes at this bytecode.
    Exited {
        /// The bytecode.
        at: u32,
    },
    /// Control has reached a slow path that the code leaves out; the interpreter runs this bytecode from its start.
    Missed {
        /// The bytecode.
        at: u32,
    },
    /// Control was in an inlined function. What is to run before this function goes on at the bytecode is for
    /// [`take_inlined`](crate::exit::take_inlined) to say.
    Inlined {
        /// The bytecode.
        at: u32,
    },
    /// The function was entered in an inner loop, and control has reached the head of an outer loop, at this bytecode.
    MovedOn {
        /// The bytecode.
        at: u32,
    },
    /// The function failed.
    Trapped {
        /// The reason.
        trap: Trap,
        /// The bytecode that failed.
        at: u32,
    },
    /// A tail call replaced the function; the host has the callee.
    Tailed,
}

/// What compiled code returns, in the two result registers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawStatus {
    status: u64,
    value: u64,
}

impl RawStatus {
    /// A status from the two result registers.
    pub const fn new(first: u64, second: u64) -> RawStatus {
        RawStatus { status: first, value: second }
    }

    /// The contents of the two result registers.
    pub const fn words(self) -> (u64, u64) {
        (self.status, self.value)
    }

    /// The same two registers, read as the result of baseline code.
    pub fn turned(self) -> TurnedStatus {
        TurnedStatus { value: self.status, status: self.value }
    }
}

/// What baseline code returns: value and status are swapped, as in calls between functions of bytecode.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TurnedStatus {
    value: u64,
    status: u64,
}

impl From<TurnedStatus> for Status {
    fn from(TurnedStatus { value, status }: TurnedStatus) -> Status {
        RawStatus { status, value }.into()
    }
}

impl From<RawStatus> for Status {
    fn from(raw: RawStatus) -> Status {
        let RawStatus { status, value } = raw;
        match Left::of(status).expect("compiled code says why it is left") {
            Left::Returned => Status::Returned(value),
            Left::Exited => Status::Exited { at: status as u32 },
            Left::Missed => Status::Missed { at: status as u32 },
            Left::Inlined => Status::Inlined { at: status as u32 },
            Left::MovedOn => Status::MovedOn { at: status as u32 },
            Left::Tailed => Status::Tailed,
            Left::Trapped => Status::Trapped {
                trap: Trap::from_code(status as u32).expect("compiled code raises traps by their codes"),
                at: value as u32,
            },
        }
    }
}
