//! The host: the data that all cells of an engine share, through which compiled code calls its engine.

use super::tail::PendingTailCall;
use super::{CallCell, Outcome, Stubs, UnresolvedCall};
use crate::memory::near::Word;
use crate::status::RawStatus;
use azulejo_core::vocab::Trap;
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::Arc;

/// The functions of an engine that machine code calls.
pub trait HostFunctions {
    /// Takes a call of a function without code: runs the function, or names the code to enter.
    ///
    /// # Safety
    ///
    /// A machine's stub must have filled in the call, and the owner of the cell's host must be the one that the host was made
    /// for.
    unsafe fn resolve(call: &mut UnresolvedCall);

    /// Takes a call through a cell that is [open to packing](CallCell::open_to_packing): makes one value of the surplus of arguments, and lets the
    /// call go on. Hosts that open no cell so need not have it.
    ///
    /// # Safety
    ///
    /// As for [`resolve`](Self::resolve).
    unsafe fn pack(call: &mut UnresolvedCall) {
        // SAFETY: as the caller promises.
        unsafe { Self::resolve(call) }
    }

    /// Runs a function, whose code was left with this status, to its end.
    ///
    /// # Safety
    ///
    /// As for [`resolve`](Self::resolve); and the frame must hold the function's values.
    unsafe fn resume(cell: &CallCell, context: *mut (), frame: *mut u64, left: RawStatus) -> Outcome;

    /// Takes note of a function that fails, and of the bytecode. It is called by code that was compiled for backtraces.
    ///
    /// # Safety
    ///
    /// As for [`resolve`](Self::resolve).
    unsafe fn note(cell: &CallCell, at: u32);

    /// Refuses a call, because there is no room for it on the stack: returns the code of the trap with which it fails.
    ///
    /// # Safety
    ///
    /// As for [`resolve`](Self::resolve).
    unsafe fn refuse(cell: &CallCell, context: *mut ()) -> u64;
}

/// [`HostFunctions`] as machine code calls them, by a machine's convention.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    resolve: *const (),
    pack: *const (),
    resume: *const (),
    note: *const (),
    refuse: *const (),
}

impl Callbacks {
    /// The callbacks with these addresses.
    ///
    /// # Safety
    ///
    /// They must be functions with the arguments and results of [`HostFunctions`], in the convention by which the machine's
    /// stubs call them.
    pub const unsafe fn new(
        resolve: *const (),
        pack: *const (),
        resume: *const (),
        note: *const (),
        refuse: *const (),
    ) -> Callbacks {
        Callbacks { resolve, pack, resume, note, refuse }
    }

    /// The address of the callback that runs functions to their end.
    pub fn resume(self) -> *const () {
        self.resume
    }
}

/// The data that all cells of an engine share: the callbacks into the engine, and the limit of the stack.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    /// The lowest address that the machine's stack may reach when code is entered. While the program is to stop, it is above
    /// every stack.
    lowest: AtomicUsize,
    /// The value of `lowest` while the program is not to stop.
    limit: AtomicUsize,
    /// Not zero while the program is to stop.
    stop: Word,
    /// Whether the program may be stopped.
    may_stop: Cell<bool>,
    callbacks: Callbacks,
    /// Two of the stubs, at offsets that compiled code knows.
    note_stub: *const u8,
    enter_next: *const u8,
    stubs: &'static Stubs,
    owner: Cell<*const ()>,
    /// Whether a failure that was noted has gone no further.
    has_caught: Cell<bool>,
    pub(super) next: PendingTailCall,
}

impl Host {
    /// A host for functions that do not run yet; stubs and callbacks must be of one machine.
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
            has_caught: Cell::new(false),
            next: PendingTailCall::nobody(),
        }
    }

    /// The machine's stubs for calls.
    #[inline]
    pub fn stubs(&self) -> &'static Stubs {
        self.stubs
    }

    /// The address of the callback that resumes a function.
    pub fn resume(&self) -> u64 {
        self.callbacks.resume().addr() as u64
    }

    /// Sets the current owner of the functions, for the callbacks, and the lowest address that the machine's stack may reach.
    #[inline]
    pub fn begin(&self, owner: *const (), lowest: usize) {
        self.owner.set(owner);
        self.set_lowest(lowest);
    }

    /// Sets the lowest address that the machine's stack may reach.
    #[inline]
    pub fn set_lowest(&self, lowest: usize) {
        let lowest = lowest.saturating_add(super::SLACK);
        if !self.may_stop.get() {
            return self.lowest.store(lowest, Relaxed);
        }
        self.limit.store(lowest, SeqCst);
        self.settle();
    }

    /// Sets `lowest` from `stop` and `limit`, after one of them was changed. It takes no lock: a forked child could find the
    /// lock held by a thread that the child does not have. Several threads may do this at once. Each checks after its store
    /// whether the value is still right, and stores again if it is not. So the last store is right.
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

    /// Allows other threads to stop the program from now on.
    pub fn allow_stops(&self) {
        self.may_stop.set(true);
    }

    /// The address of the word that loops poll, if the program may be stopped.
    pub fn stop_word(&self) -> Option<u64> {
        self.may_stop.get().then(|| self.stop.address())
    }

    /// A function has failed with this trap's code, and its caller goes on. Returns the code that the caller sees, which is that of
    /// [`Trap::Ended`] if the program is to stop: calls fail then as if there were no room on the stack.
    pub fn caught(&self, code: u64) -> u64 {
        let ended = Trap::Ended.code() as u64;
        let code = if self.stop.load(SeqCst) == 0 { code } else { ended };
        // The end of the program goes on.
        self.has_caught.set(self.has_caught.get() || code != ended);
        code
    }

    /// Whether a failure has gone no further since this was asked.
    pub fn take_caught(&self) -> bool {
        self.has_caught.take()
    }

    /// The current owner of the functions.
    #[inline]
    pub fn owner(&self) -> *const () {
        self.owner.get()
    }

    /// Offset of the limit of the stack, for code that reads it.
    pub const LOWEST: usize = offset_of!(Host, lowest);
    /// Offset of the callback for calls without code.
    pub const RESOLVE: usize = offset_of!(Host, callbacks.resolve);
    /// Offset of the callback for calls whose arguments are packed.
    pub const PACK: usize = offset_of!(Host, callbacks.pack);
    /// Offset of the callback that resumes a function.
    pub const RESUME: usize = offset_of!(Host, callbacks.resume);
    /// Offset of the callback that notes failures.
    pub const NOTE: usize = offset_of!(Host, callbacks.note);
    /// Offset of the callback that refuses calls for want of room.
    pub const REFUSE: usize = offset_of!(Host, callbacks.refuse);
    /// Offset of the stub that calls `note`.
    pub const NOTE_STUB: usize = offset_of!(Host, note_stub);
    /// Offset of the stub that enters the pending tail call's function.
    pub const ENTER_NEXT: usize = offset_of!(Host, enter_next);
    /// Offset of the pending tail call's cell.
    pub const NEXT_CELL: usize = offset_of!(Host, next.cell);
    /// Offset of the pending tail call's context.
    pub const NEXT_CONTEXT: usize = offset_of!(Host, next.context);
    /// Offset of the pending tail call's number of arguments.
    pub const NEXT_COUNT: usize = offset_of!(Host, next.count);
    /// Offset of the address of the pending tail call's arguments.
    pub const NEXT_ARGS: usize = offset_of!(Host, next.args);
}

/// A handle to a host, for other threads.
#[derive(Clone, Debug)]
pub struct Remote(Arc<Host>);

// SAFETY: the methods below are its only uses, and they use only atomics; any thread may drop the contents of a host.
unsafe impl Send for Remote {}
// SAFETY: as above.
unsafe impl Sync for Remote {}

impl Remote {
    /// A handle to this host.
    pub fn of(host: &Arc<Host>) -> Remote {
        Remote(Arc::clone(host))
    }

    /// Stops the program, now or when it is next run: at its next call, or at the next iteration of a loop. (A child that is
    /// forked in the middle of this stops at the next loop, or when it is next run.)
    pub fn stop(&self) {
        self.0.stop.store(1, SeqCst);
        self.0.settle();
    }

    /// Lets the program run again.
    pub fn withdraw(&self) {
        self.0.stop.store(0, SeqCst);
        self.0.settle();
    }

    /// The word that is not zero while the program is to stop.
    pub fn word(&self) -> &AtomicU64 {
        &self.0.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::toy::STUBS;

    /// Threads stop a program and withdraw that, interleaved in any way; in the end the limit of the stack is what the last of
    /// them set.
    #[test]
    fn the_end_of_the_stack_is_what_the_last_one_says() {
        const ROUNDS: usize = 20_000;
        // SAFETY: nothing is called.
        let callbacks = unsafe {
            let [resolve, pack, resume, note, refuse] = [core::ptr::null(); 5];
            Callbacks::new(resolve, pack, resume, note, refuse)
        };
        #[allow(clippy::arc_with_non_send_sync, reason = "others have it as a `Remote`")]
        let host = Arc::new(Host::new(&STUBS, callbacks));
        host.allow_stops();
        host.begin(core::ptr::null(), 1 << 20);
        let limit = host.limit.load(SeqCst);
        let (remote, arrived) = (Remote::of(&host), AtomicUsize::new(0));
        let (remote, arrived) = (&remote, &arrived);
        // Both threads continue at the same time.
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
