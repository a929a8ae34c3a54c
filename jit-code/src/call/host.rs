//! What all cells of an engine share: by this, compiled code calls its engine.

use super::tail::PendingTailCall;
use super::{CallCell, Outcome, Stubs, UnresolvedCall};
use crate::memory::near::Word;
use crate::status::RawStatus;
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::Arc;

/// What an engine does for machine code that calls it.
pub trait HostFunctions {
    /// Takes a call for which there is no code: runs the function, or names the code that does.
    ///
    /// # Safety
    ///
    /// A machine's stub has written the call down, and the owner of the cell's host must be what it was made for.
    unsafe fn resolve(call: &mut UnresolvedCall);

    /// Runs a function to its end whose code was left before that, with this status.
    ///
    /// # Safety
    ///
    /// As above; and the frame must have the function's values.
    unsafe fn resume(cell: &CallCell, context: *mut (), frame: *mut u64, left: RawStatus) -> Outcome;

    /// Is told of each function that fails, and at which bytecode, where code was compiled for that.
    ///
    /// # Safety
    ///
    /// As above.
    unsafe fn note(cell: &CallCell, at: u32);
}

/// [`HostFunctions`] as machine code calls them, by a machine's convention.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    resolve: *const (),
    resume: *const (),
    note: *const (),
}

impl Callbacks {
    /// These three.
    ///
    /// # Safety
    ///
    /// They must be functions of such arguments and results, by the convention that the machine's stubs call them by.
    pub const unsafe fn new(resolve: *const (), resume: *const (), note: *const ()) -> Callbacks {
        Callbacks { resolve, resume, note }
    }
}

/// What all cells of an engine share: the callbacks into the engine, and the limit of the stack.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    /// How far down the machine's stack may be when code is entered. Nobody's stack is so high while the program is to stop.
    lowest: AtomicUsize,
    /// The same while it is not to stop.
    limit: AtomicUsize,
    /// Not zero while the program is to stop.
    stop: Word,
    /// Whether anybody may have the program stopped.
    may_stop: Cell<bool>,
    callbacks: Callbacks,
    /// Two of the stubs, which compiled code finds here.
    note_stub: *const u8,
    enter_next: *const u8,
    stubs: &'static Stubs,
    owner: Cell<*const ()>,
    pub(super) next: PendingTailCall,
}

impl Host {
    /// For functions that do not run yet; with stubs and callbacks of one machine.
    pub fn new(stubs: &'static Stubs, callbacks: Callbacks) -> Host {
        Host {
            lowest: AtomicUsize::new(usize::MAX),
            limit: AtomicUsize::new(usize::MAX),
            stop: Word::new(),
            may_stop: Cell::new(false),
            callbacks,
            note_stub: stubs.note,
            enter_next: stubs.enter_next,
            stubs,
            owner: Cell::new(core::ptr::null()),
            next: PendingTailCall::nobody(),
        }
    }

    /// The machine's code for calls.
    pub fn stubs(&self) -> &'static Stubs {
        self.stubs
    }

    /// The address of the callback that runs functions on.
    pub fn resume(&self) -> u64 {
        self.callbacks.resume.addr() as u64
    }

    /// Says whose functions these are now, for the two functions, and how far down the machine's stack may be used.
    pub fn begin(&self, owner: *const (), lowest: usize) {
        self.owner.set(owner);
        let lowest = lowest.saturating_add(super::SLACK);
        if !self.may_stop.get() {
            return self.lowest.store(lowest, Relaxed);
        }
        self.limit.store(lowest, SeqCst);
        self.settle();
    }

    /// Makes `lowest` what the other two say; for who has changed one of them. There is no lock, for a process that is forked
    /// off could find it taken by a thread that it does not have. Several threads may do this at once: whoever writes
    /// the word last looks behind that whether what he wrote is still right. If it is not, somebody else has changed
    /// something since, or he tries again.
    fn settle(&self) {
        let wanted = || match self.stop.load(SeqCst) {
            0 => self.limit.load(SeqCst),
            _ => usize::MAX,
        };
        let mut lowest = wanted();
        loop {
            self.lowest.store(lowest, SeqCst);
            match wanted() {
                same if same == lowest => return,
                other => lowest = other,
            }
        }
    }

    /// From now on somebody may have the program stopped.
    pub fn allow_stops(&self) {
        self.may_stop.set(true);
    }

    /// The word that loops look at, if anybody may have the program stopped.
    pub fn stop_word(&self) -> Option<u64> {
        self.may_stop.get().then(|| self.stop.address())
    }

    /// Whose functions these are.
    pub fn owner(&self) -> *const () {
        self.owner.get()
    }

    /// Where in it these are, for code that reads them.
    pub const LOWEST: usize = offset_of!(Host, lowest);
    /// The callback for calls without code.
    pub const RESOLVE: usize = offset_of!(Host, callbacks.resolve);
    /// The one that runs functions on.
    pub const RESUME: usize = offset_of!(Host, callbacks.resume);
    /// The one that is told of failures.
    pub const NOTE: usize = offset_of!(Host, callbacks.note);
    /// The stub that calls it.
    pub const NOTE_STUB: usize = offset_of!(Host, note_stub);
    /// The stub that enters the pending tail call's function.
    pub const ENTER_NEXT: usize = offset_of!(Host, enter_next);
    /// Of the pending tail call: the function's cell.
    pub const NEXT_CELL: usize = offset_of!(Host, next.cell);
    /// The context.
    pub const NEXT_CONTEXT: usize = offset_of!(Host, next.context);
    /// The number of arguments.
    pub const NEXT_COUNT: usize = offset_of!(Host, next.count);
    /// Their address.
    pub const NEXT_ARGS: usize = offset_of!(Host, next.args);
}

/// A host as other threads see it.
#[derive(Clone, Debug)]
pub struct Remote(Arc<Host>);

// SAFETY: all that is done with it is done by the functions below, with atomics; and what is in a host may be dropped by any
// thread.
unsafe impl Send for Remote {}
// SAFETY: as above.
unsafe impl Sync for Remote {}

impl Remote {
    /// Of this host.
    pub fn of(host: &Arc<Host>) -> Remote {
        Remote(Arc::clone(host))
    }

    /// Has the program stop, now or when it is run next: where it calls a function, and where a loop goes around. (A child that
    /// is forked off in the middle of this stops at the next loop, or when it is run next.)
    pub fn stop(&self) {
        self.0.stop.store(1, SeqCst);
        self.0.settle();
    }

    /// Lets it run.
    pub fn withdraw(&self) {
        self.0.stop.store(0, SeqCst);
        self.0.settle();
    }

    /// Not zero while the program is to stop.
    pub fn word(&self) -> &AtomicU64 {
        &self.0.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::toy::STUBS;

    /// Threads that stop a program and take that back come between each other anywhere; in the end the stack ends where the
    /// last of them says.
    #[test]
    fn the_end_of_the_stack_is_what_the_last_one_says() {
        const ROUNDS: usize = 20_000;
        // SAFETY: nothing is called.
        let callbacks = unsafe { Callbacks::new(core::ptr::null(), core::ptr::null(), core::ptr::null()) };
        #[allow(clippy::arc_with_non_send_sync, reason = "others have it as a `Remote`")]
        let host = Arc::new(Host::new(&STUBS, callbacks));
        host.allow_stops();
        host.begin(core::ptr::null(), 1 << 20);
        let limit = host.limit.load(SeqCst);
        let (remote, arrived) = (Remote::of(&host), AtomicUsize::new(0));
        let (remote, arrived) = (&remote, &arrived);
        // Both go on at the same time.
        let meet = move |times: usize| {
            arrived.fetch_add(1, SeqCst);
            let mut spins = 0_usize;
            while arrived.load(SeqCst) < 2 * times {
                spins += 1;
                if spins.is_multiple_of(1000) {
                    std::thread::yield_now();
                }
            }
        };
        let work = move |act: fn(&Remote)| {
            for round in 0..ROUNDS {
                meet(2 * round + 1);
                act(remote);
                meet(2 * round + 2);
                let expected = if remote.word().load(SeqCst) == 0 { limit } else { usize::MAX };
                assert_eq!(remote.0.lowest.load(SeqCst), expected, "in round {round}");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(move || work(Remote::stop));
            scope.spawn(move || work(Remote::withdraw));
        });
    }
}
