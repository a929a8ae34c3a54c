//! How compiled code says why it was left.

use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Trap;

/// How compiled code was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The function is done; the bits of its result.
    Returned(u64),
    /// The interpreter goes on at this bytecode.
    Exited {
        /// Which.
        at: u32,
    },
    /// It was entered in an inner loop, and control has come to the head of one around it, at this bytecode.
    MovedOn {
        /// Which.
        at: u32,
    },
    /// The function failed.
    Trapped {
        /// Why.
        trap: Trap,
        /// At which bytecode.
        at: u32,
    },
    /// Another function takes its place: the one that its host knows of.
    Tailed,
}

/// What compiled code gives back, in the two registers of results.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawStatus {
    status: u64,
    value: u64,
}

impl RawStatus {
    /// What is in the two registers of results.
    pub const fn new(first: u64, second: u64) -> RawStatus {
        RawStatus { status: first, value: second }
    }

    /// What is in the registers, if it was baseline code that gave it back.
    pub fn turned(self) -> TurnedStatus {
        TurnedStatus { value: self.status, status: self.value }
    }
}

/// What baseline code gives back: the same the other way round, as calls between functions of bytecode have it.
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
            Left::MovedOn => Status::MovedOn { at: status as u32 },
            Left::Tailed => Status::Tailed,
            Left::Trapped => Status::Trapped {
                trap: Trap::from_code(status as u32).expect("compiled code raises traps by their codes"),
                at: value as u32,
            },
        }
    }
}
