//! Call cells: what compiled callers know of a function.

use super::{Adapter, Host, MAX_REGISTER_ARGUMENTS, Outcome, Stubs};
use azulejo_core::ir::interpreted::Record;
use azulejo_core::pass::build::{CallEntry, Linkage};
use core::cell::{Cell, OnceCell};
use core::mem::offset_of;

/// The call cell of a function: compiled callers jump through it.
#[repr(C)]
#[derive(Debug)]
pub struct CallCell {
    /// The target of calls.
    entry: Cell<*const u8>,
    /// The target of calls whose arguments are in memory.
    unpack: Cell<*const u8>,
    /// The target of calls whose number of arguments the entry does not take.
    fallback: Cell<*const u8>,
    host: *const Host,
    /// The function, for machine code that interprets it, while calls enter that.
    record: Cell<*const Record>,
    /// The function's number.
    function: u32,
    is_inner: bool,
    /// The cell by which calls go on whose arguments the host has changed. It stays, for compilers on other threads may have its address.
    inner: OnceCell<Box<CallCell>>,
    has_inner: Cell<bool>,
    packing: Cell<Packing>,
}

/// What calls of a function become whose surplus of arguments is packed into one value.
#[derive(Clone, Copy, Default, Debug)]
pub struct Packing {
    /// How many arguments stand in front of that value.
    pub before: usize,
    /// The bits of those of them that a call does not pass.
    pub missing: u64,
}

impl CallCell {
    /// The cell of a function that is not compiled.
    ///
    /// # Safety
    ///
    /// The host must live as long as compiled code can call the function.
    pub unsafe fn new(host: *const Host, function: u32) -> CallCell {
        // SAFETY: the caller guarantees it.
        let stubs = unsafe { &*host }.stubs();
        let [entry, fallback] = [(); 2].map(|()| Cell::new(stubs.resolve));
        CallCell {
            entry,
            unpack: Cell::new(stubs.unpack),
            fallback,
            host,
            record: Cell::new(core::ptr::null()),
            function,
            is_inner: false,
            inner: OnceCell::new(),
            has_inner: Cell::new(false),
            packing: Cell::default(),
        }
    }

    /// The function's second cell, which is made when it is first asked for. A function whose arguments the host has to change
    /// keeps its cell closed, or has it ask for that change and nothing else ([`open_to_packing`](Self::open_to_packing)): the host changes each call's arguments and lets the call go on through the inner cell
    /// ([`UnresolvedCall::redirect`](super::UnresolvedCall::redirect)), which is opened and closed as the cells of other functions are.
    #[inline]
    pub fn inner(&self) -> &CallCell {
        debug_assert!(!self.is_inner, "it has no second cell");
        self.has_inner.set(true);
        self.inner.get_or_init(|| {
            // SAFETY: the creator of this cell has promised it.
            let inner = unsafe { CallCell::new(self.host, self.function) };
            Box::new(CallCell { is_inner: true, ..inner })
        })
    }

    /// Sends calls to the host's [`pack`](super::HostFunctions::pack), which lets them go on through the inner cell.
    pub fn open_to_packing(&self, packing: Packing) {
        debug_assert!(packing.before < self.stubs().register_arguments, "the packed value is in a register");
        self.inner();
        self.packing.set(packing);
        self.entry.set(self.stubs().pack);
    }

    /// What calls become before they go on through the inner cell, once they go to the host's `pack`.
    #[inline]
    pub fn packing(&self) -> Packing {
        self.packing.get()
    }

    /// Whether this is an inner cell, so that calls through it have their final arguments.
    pub fn is_inner(&self) -> bool {
        self.is_inner
    }

    /// The cell that code of the function opens: the inner one, if there is one.
    pub fn innermost(&self) -> &CallCell {
        self.inner.get().filter(|_| self.has_inner.get()).map_or(self, |inner| inner)
    }

    /// Makes this the cell of another function, which gets the number of one that is gone. All cells must be closed but this, which may still
    /// ask for packing.
    pub fn renew(&self) {
        debug_assert!(!self.is_inner, "the function's second cell goes with its first");
        self.close();
        self.has_inner.set(false);
        self.packing.set(Packing::default());
    }

    /// Offset of the target of calls, for code that reads it.
    pub const ENTRY: usize = offset_of!(CallCell, entry);
    /// Offset of the target of calls whose arguments are in memory.
    pub const UNPACK: usize = offset_of!(CallCell, unpack);
    /// Offset of the target of calls with another number of arguments.
    pub const FALLBACK: usize = offset_of!(CallCell, fallback);
    /// Offset of the host's address.
    pub const HOST: usize = offset_of!(CallCell, host);

    /// Offset of the address of the function's record.
    pub const RECORD: usize = offset_of!(CallCell, record);

    fn stubs(&self) -> &'static Stubs {
        self.host().stubs()
    }

    /// The function's number.
    #[inline]
    pub fn function(&self) -> u32 {
        self.function
    }

    /// The host, which all cells of an engine share.
    #[inline]
    pub fn host(&self) -> &Host {
        // SAFETY: the creator of the cell guaranteed that the host outlives it.
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
    /// `entry` must be the entry of code that was compiled with a [`CallEntry`] for this call cell.
    pub unsafe fn open_to(&self, entry: *const u8) {
        self.entry.set(entry);
        self.unpack.set(self.stubs().unpack);
    }

    /// Sends calls to the interpreter in machine code. Returns whether the machine has one that takes calls.
    ///
    /// # Safety
    ///
    /// The record must be that of the function, and live as long as calls are sent there.
    pub unsafe fn open_to_interpreter(&self, record: *const Record) -> bool {
        let Some(stubs) = &self.stubs().interpreted else { return false };
        self.record.set(record);
        self.entry.set(stubs.call);
        self.unpack.set(stubs.call_from_memory);
        true
    }

    /// Calls the function as compiled code would.
    ///
    /// # Safety
    ///
    /// The host's owner must be what its functions take it for, and the context what the function's templates take it for; as
    /// much of the machine's stack must be left as the host was told.
    pub unsafe fn call(&self, context: *mut (), args: &[u64]) -> Outcome {
        let mut few = [0; MAX_REGISTER_ARGUMENTS];
        if let Some(first) = few.get_mut(..args.len()) {
            first.copy_from_slice(args);
            // SAFETY: the caller guarantees it.
            return unsafe { self.call_with_few(context, &few, args.len()) };
        }
        // SAFETY: the caller guarantees it, and there are at least as many words in memory as argument registers.
        unsafe { (self.stubs().call)(self, context, args.as_ptr(), args.len()) }
    }

    /// Calls the function as compiled code would, with the first `count` of these arguments.
    ///
    /// # Safety
    ///
    /// As for [`call`](Self::call); `count` is at most the number of words.
    #[inline(always)]
    pub unsafe fn call_with_few(
        &self,
        context: *mut (),
        args: &[u64; MAX_REGISTER_ARGUMENTS],
        count: usize,
    ) -> Outcome {
        debug_assert!(count <= args.len());
        // SAFETY: the caller guarantees it, and there are as many words in memory as argument registers.
        unsafe { (self.stubs().call)(self, context, args.as_ptr(), count) }
    }

    /// The functions with these call cells, as compilers need them; `table` is the address of a table of the same cells.
    pub fn functions<'a>(stubs: &Stubs, cells: &'a [u64], table: u64) -> Linkage<'a> {
        let [set_tail_call, begin_tail_call, caught] =
            [stubs.set_tail_call, stubs.begin_tail_call, stubs.caught].map(|address| address.addr() as u64);
        let pending = Some(Host::PENDING);
        Linkage { cells, table, set_tail_call, begin_tail_call, pending, caught, ..Linkage::default() }
    }

    /// This function, as the optimizer needs it to compile it for calls with this many arguments; `unit` is the value of
    /// `(cu)`.
    pub fn call_entry(&self, arguments: u32, unit: *const ()) -> CallEntry {
        let in_registers = self.stubs().register_arguments as u32;
        let cell = core::ptr::from_ref(self).addr() as u64;
        CallEntry { cell, arguments, in_registers, unit: unit.addr() as u64 }
    }

    /// The address of the callback that resumes a function.
    pub fn resume(&self) -> u64 {
        self.host().resume()
    }

    /// The target of calls whose number of arguments the entry does not take.
    pub fn fallback(&self) -> *const u8 {
        self.fallback.get()
    }

    /// The target of calls.
    #[inline]
    pub fn entry(&self) -> *const u8 {
        self.entry.get()
    }
}
