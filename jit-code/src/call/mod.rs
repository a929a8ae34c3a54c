//! Calls: how functions of bytecode call each other, whatever tier each of them runs in.
//!
//! In: functions, as they get code and lose it. Out: a [`CallCell`] for each, which compiled callers jump through, and a [`Host`]
//! that all of them share, by which code calls its engine.
//!
//! Who does what in a call, from the caller to the callee and back:
//!
//! 1. The caller has the callee's cell, the context, the number of arguments and the arguments where the machine's convention has
//!    them: the first ones, [as many as it says](Stubs::register_arguments), in registers, the others on the stack as for functions of C. It jumps through the
//!    cell's `entry`. A caller whose arguments are in a row in memory has their address and number in registers instead, and jumps
//!    through the cell's `unpack`.
//! 2. What is there is one of these: code that was compiled for such calls; an adapter, which makes the frame that other code wants;
//!    or, where there is no code, a [stub](Stubs) that writes an [`UnresolvedCall`] down and asks the host's `resolve`, which runs the
//!    function or names code that does. Code that takes one number of arguments sends calls with another to the cell's `fallback`.
//! 3. The callee gives back an [`Outcome`] in two registers: the bits of the result and zero, or anything and a trap's
//!    [code](azulejo_core::vocab::Trap::code).
//! 4. A function that ends in a tail call announces it to the host ([`Host::begin_tail_call`]), gives its frame back and goes to
//!    the stub that enters the pending function, as if its own caller had called that.
//! 5. Where compiled code is left before its end, the host's `resume` runs the function on, and its outcome is the call's. Where
//!    failures are noted, the host's `note` is told of each function on the way out.
//!
//! A cell never moves. So a function is compiled, recompiled and thrown away under its callers by one store to its cell.

mod adapter;
mod cell;
mod host;
mod outcome;
mod stubs;
mod tail;

pub use adapter::{Accepts, Adapter, AdapterAdmission, AdapterTarget, Admission, Entries, TargetCode};
pub use cell::CallCell;
pub use host::{Callbacks, Host, HostFunctions, Remote};
pub use outcome::{Outcome, TAIL_CALL, UnresolvedCall};
pub use stubs::Stubs;
pub use tail::SavedTailCall;

use azulejo_core::vocab::Op;

/// No machine passes more arguments than this in registers.
pub const MAX_REGISTER_ARGUMENTS: usize = Op::ARGUMENTS.len();

/// Code that takes no more of the machine's stack than this only compares the stack pointer when it is entered.
pub const SLACK: usize = 4096;
