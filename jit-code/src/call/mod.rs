//! Calls: how functions of bytecode call each other, whatever tier each of them runs in.
//!
//! In: functions, as they get and lose code. Out: a [`CallCell`] for each, which compiled callers jump through, and a [`Host`]
//! that all cells share, through which code calls its engine.
//!
//! The steps of a call, from the caller to the callee and back:
//!
//! 1. The caller puts the callee's cell, the context, the number of arguments and the arguments where the machine's convention
//!    expects them: the first [`register_arguments`](Stubs::register_arguments) arguments in registers, the others on the stack
//!    as for functions of C. It jumps through the cell's `entry`. A caller whose arguments are in consecutive memory passes
//!    their address and number in registers instead, and jumps through the cell's `unpack`.
//! 2. The target of the jump is one of these: code that was compiled for such calls; an adapter, which makes the frame that other
//!    code needs; or, if the function has no code, a [stub](Stubs) that fills in an [`UnresolvedCall`] and calls the host's
//!    `resolve`, which runs the function or names the code to enter. Code that takes one number of arguments sends calls with
//!    another to the cell's `fallback`.
//! 3. The callee returns an [`Outcome`] in two registers: the bits of the result and zero, or any value and a trap's
//!    [code](azulejo_core::vocab::Trap::code).
//! 4. A function that ends in a tail call announces it to the host, by stores of its own if there are few arguments ([`Host::PENDING`]),
//!    else by a call ([`Host::begin_tail_call`]). It drops its frame and jumps to the stub that enters the pending function, as if its
//!    own caller had called that.
//! 5. If compiled code exits before the function's end, the host's `resume` runs the function to its end, and its outcome is the
//!    call's. If failures are noted, each function that fails on the way out calls the host's `note`.
//!
//! If the host has to change the arguments of all calls of a function, since it packs the surplus into one value, the function has two cells.
//! Callers know the first, whose stub only asks the host's `pack`; the call then goes on through the [inner](CallCell::inner) one.
//!
//! A cell never moves. So a function is compiled, recompiled or discarded under its running callers by a single store to its
//! cell.

mod adapter;
mod cell;
mod glue;
mod host;
mod kept;
mod outcome;
mod stubs;
mod tail;

pub use adapter::{
    Accepts, Adapter, AdapterAdmission, AdapterTarget, Admission, Entries, MissingArguments, TargetCode,
};
pub use cell::{CallCell, Packing};
pub use host::{Callbacks, Host, HostFunctions, Remote};
pub use kept::KeptValues;
pub use outcome::{Outcome, TAIL_CALL, UnresolvedCall};
pub use stubs::{InterpretedStubs, Stubs};
pub use tail::SavedTailCall;

use azulejo_core::vocab::Op;

/// No machine passes more arguments than this in registers.
pub const MAX_REGISTER_ARGUMENTS: usize = Op::ARGUMENTS.len();

/// Code that takes no more of the machine's stack than this needs only one comparison with the stack pointer at its entry.
pub const SLACK: usize = 4096;
