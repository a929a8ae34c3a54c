//! What compiled callers know of a function.

use super::{Adapter, Host, MAX_REGISTER_ARGUMENTS, Outcome, Stubs};
use azulejo_core::pass::build::{CallEntry, Functions};
use core::cell::Cell;
use core::mem::offset_of;

/// What compiled callers know of a function.
#[repr(C)]
#[derive(Debug)]
pub struct CallCell {
    /// Where calls jump to.
    entry: Cell<*const u8>,
    /// Where calls jump to whose arguments are in memory.
    unpack: Cell<*const u8>,
    /// Code that takes one number of arguments sends calls with another number here.
    fallback: Cell<*const u8>,
    host: *const Host,
    /// The function's number.
    function: u32,
}

impl CallCell {
    /// A function that is not compiled.
    ///
    /// # Safety
    ///
    /// The host must live as long as compiled code can call the function.
    pub unsafe fn new(host: *const Host, function: u32) -> CallCell {
        // SAFETY: the caller promises it.
        let stubs = unsafe { &*host }.stubs();
        let [entry, fallback] = [(); 2].map(|()| Cell::new(stubs.resolve));
        CallCell { entry, unpack: Cell::new(stubs.unpack), fallback, host, function }
    }

    /// Where in it these are, for code that reads them: where calls jump to.
    pub const ENTRY: usize = offset_of!(CallCell, entry);
    /// The same for those that leave their arguments in memory.
    pub const UNPACK: usize = offset_of!(CallCell, unpack);
    /// The same for those with another number of arguments.
    pub const FALLBACK: usize = offset_of!(CallCell, fallback);
    /// The host.
    pub const HOST: usize = offset_of!(CallCell, host);

    fn stubs(&self) -> &'static Stubs {
        self.host().stubs()
    }

    /// Which function it is.
    pub fn function(&self) -> u32 {
        self.function
    }

    /// What it shares with others.
    pub fn host(&self) -> &Host {
        // SAFETY: who made the call cell saw to it.
        unsafe { &*self.host }
    }

    /// Sends calls to the host.
    pub fn close(&self) {
        self.entry.set(self.stubs().resolve);
        self.unpack.set(self.stubs().unpack);
        self.close_fallback();
    }

    /// Sends calls whose number of arguments the entry does not take to the host.
    pub fn close_fallback(&self) {
        self.fallback.set(self.stubs().resolve);
    }

    /// Sends calls whose number of arguments the entry does not take to this adapter, which must take any number.
    pub fn open_fallback(&self, adapter: &Adapter) {
        debug_assert!(adapter.takes_any_number());
        self.fallback.set(adapter.entry());
    }

    /// Sends calls to an adapter.
    pub fn open(&self, adapter: &Adapter) {
        self.entry.set(adapter.entry());
        self.unpack.set(adapter.memory_entry().unwrap_or(self.stubs().unpack));
    }

    /// Sends calls to code that was compiled for them.
    ///
    /// # Safety
    ///
    /// It must be the entry of code that was compiled with a [`CallEntry`], for this call cell.
    pub unsafe fn open_to(&self, entry: *const u8) {
        self.entry.set(entry);
        self.unpack.set(self.stubs().unpack);
    }

    /// Calls the function as compiled code would.
    ///
    /// # Safety
    ///
    /// The host's owner must be what its functions take it for, and the context what the function's templates do; there must
    /// be as much of the machine's stack left as the host was told.
    ///
    pub unsafe fn call(&self, context: *mut (), args: &[u64]) -> Outcome {
        let mut few = [0; MAX_REGISTER_ARGUMENTS];
        let all = match few.get_mut(..args.len()) {
            Some(first) => {
                first.copy_from_slice(args);
                &few[..]
            }
            None => args,
        };
        // SAFETY: the caller promises it, and there are as many in memory as registers.
        unsafe { (self.stubs().call)(self, context, all.as_ptr(), args.len()) }
    }

    /// What compilers are told of functions with these call cells, which a table at this address tells of too.
    pub fn functions<'a>(stubs: &Stubs, cells: &'a [u64], table: u64) -> Functions<'a> {
        let [set_tail_call, begin_tail_call] =
            [stubs.set_tail_call, stubs.begin_tail_call].map(|address| address.addr() as u64);
        Functions { cells, table, set_tail_call, begin_tail_call, stop: None, fuel: None }
    }

    /// What the optimizer is told of this function for calls with so many arguments; `unit` is what `(cu)` gives.
    pub fn call_entry(&self, arguments: u32, unit: *const ()) -> CallEntry {
        let cell = core::ptr::from_ref(self).addr() as u64;
        let in_registers = self.stubs().register_arguments as u32;
        CallEntry { arguments, in_registers, unit: unit.addr() as u64, cell, resume: self.resume() }
    }

    /// The address of the function that goes on where code was left.
    pub fn resume(&self) -> u64 {
        self.host().resume()
    }

    /// Where those go that are not for the code that others enter.
    pub fn fallback(&self) -> *const u8 {
        self.fallback.get()
    }

    /// Where calls go.
    pub fn entry(&self) -> *const u8 {
        self.entry.get()
    }
}
