//! The call cells, by which functions of bytecode call each other in compiled code.
//!
//! In: functions as they are defined, and adapters to their code. Out: a call cell for each function, and the table of cells
//! that compilers and compiled code read. Neither the call cells nor the table move as long as the engine lives.

use super::backend::Machine;
pub(crate) use azulejo_code::call::MAX_REGISTER_ARGUMENTS;
pub(crate) use azulejo_code::call::Remote;
use azulejo_code::call::{CallCell, Host, HostFunctions, SavedTailCall};
use azulejo_code::emit::Backend;
pub(crate) use azulejo_code::memory::near::Word;
use azulejo_core::ir::bytecode::Callable;
use azulejo_core::pass::build::{CellTable, Linkage};
use azulejo_core::vocab::Trap;
use std::cell::{RefCell, UnsafeCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Addresses of call cells. Other threads may read published addresses while the engine's thread sets more.
#[derive(Debug)]
struct Addresses(Box<[UnsafeCell<u64>]>);

// SAFETY: the engine's thread sets each address before it publishes it to other threads, and never afterwards.
unsafe impl Sync for Addresses {}

impl Addresses {
    fn new(len: usize) -> Addresses {
        Addresses((0..len).map(|_| UnsafeCell::new(0)).collect())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn first(&self) -> *const u64 {
        self.0.as_ptr().cast()
    }

    /// Sets an address that was not published.
    fn set(&self, at: usize, address: u64) {
        // SAFETY: only the engine's thread sets addresses, and no other thread reads this one yet.
        unsafe { *self.0[at].get() = address };
    }

    /// The first `len` addresses, all of which must have been set.
    fn up_to(&self, len: usize) -> &[u64] {
        let set = &self.0[..len];
        // SAFETY: addresses that are set do not change any more.
        unsafe { std::slice::from_raw_parts(set.as_ptr().cast(), set.len()) }
    }
}

fn address(cell: &CallCell) -> u64 {
    std::ptr::from_ref(cell).addr() as u64
}

/// A snapshot of all functions, for another thread.
pub(crate) struct Shared {
    addresses: Arc<Addresses>,
    len: usize,
    table: u64,
    stop: Option<u64>,
    fuel: Option<u64>,
    only_read: bool,
}

impl Shared {
    /// The functions as compilers take them.
    pub(crate) fn functions(&self) -> Linkage<'_> {
        let cells = self.addresses.up_to(self.len);
        let Shared { stop, fuel, only_read, table, .. } = *self;
        Linkage { stop, fuel, only_read, ..CallCell::functions(Machine::STUBS, cells, table) }
    }
}

/// The call cells of an engine's functions.
#[derive(Debug)]
pub(crate) struct Links {
    // The host and the cells do not move, because compiled code contains their addresses.
    host: Arc<Host>,
    #[allow(clippy::vec_box, reason = "compiled code has the cells' addresses")]
    cells: Vec<Box<CallCell>>,
    /// The call cells' addresses, followed by the address of `nobody`.
    addresses: Arc<Addresses>,
    /// The call cell for all numbers that are no function's.
    nobody: Box<CallCell>,
    /// The address of the fuel's word, if fuel is limited.
    fuel: Option<u64>,
    /// Whether nobody writes registers through frames.
    only_read: bool,
    table: Box<CellTable>,
    /// The functions of some cells by their addresses: of the first ones, as many as there are here.
    by_address: BTreeMap<u64, u32>,
}

impl Links {
    pub(crate) fn new<H: HostFunctions>() -> Links {
        #[allow(
            clippy::arc_with_non_send_sync,
            reason = "other threads have it as a `Remote`, which is both"
        )]
        let host = Arc::new(Machine::host::<H>());
        // SAFETY: the host lives as long as the call cell, and no code that uses the cell runs after both are dropped.
        let nobody = Box::new(unsafe { CallCell::new(&raw const *host, u32::MAX) });
        let addresses = Arc::new(Addresses::new(2));
        addresses.set(0, std::ptr::from_ref(&*nobody).addr() as u64);
        let table = Box::new(CellTable { cells: addresses.first(), len: 0 });
        let (cells, by_address) = Default::default();
        Links { host, cells, addresses, nobody, fuel: None, only_read: false, table, by_address }
    }

    /// Adds the call cell of a new function.
    pub(crate) fn add(&mut self) {
        let number = self.cells.len();
        // SAFETY: as above.
        let cell = Box::new(unsafe { CallCell::new(&raw const *self.host, number as u32) });
        if self.addresses.len() < number + 2 {
            let larger = Addresses::new((number + 2).next_power_of_two());
            self.cells.iter().enumerate().for_each(|(at, cell)| larger.set(at, address(cell)));
            // Snapshots keep the old addresses alive.
            self.addresses = Arc::new(larger);
        }
        self.addresses.set(number + 1, address(&self.nobody));
        self.addresses.set(number, address(&cell));
        self.cells.push(cell);
        *self.table = CellTable { cells: self.addresses.first(), len: self.cells.len() as u64 };
    }

    /// Starts an outermost call: sets the engine's address, and the lowest address that the machine's stack may reach.
    #[inline(always)]
    pub(crate) fn begin(&self, owner: *const (), lowest: usize) {
        self.host.begin(owner, lowest);
    }

    /// Sets the lowest address that the machine's stack may reach, in a call that has begun.
    #[inline(always)]
    pub(crate) fn set_lowest(&self, lowest: usize) {
        self.host.set_lowest(lowest);
    }

    pub(crate) fn cell(&self, number: u32) -> &CallCell {
        &self.cells[number as usize]
    }

    /// The cell by which calls enter a function's code: its call cell, or the inner one if it has two.
    pub(crate) fn code_cell(&self, number: u32) -> &CallCell {
        self.cell(number).innermost()
    }

    /// The address by which templates call a function: that of its call cell.
    pub(crate) fn callee(&self, number: u32) -> *const Callable {
        let callee = std::ptr::from_ref(self.cell(number)).cast::<Callable>();
        callee.expose_provenance();
        callee
    }

    /// The number of the function with this address.
    ///
    /// # Safety
    ///
    /// It must come from [`callee`](Self::callee) of an engine that exists.
    pub(crate) unsafe fn number(callee: *const Callable) -> u32 {
        // SAFETY: the caller guarantees that it is a call cell; it lives as long as the engine.
        unsafe { &*callee.cast::<CallCell>() }.function()
    }

    /// The number of the function whose call cell has this address, if one does.
    pub(crate) fn function_at(&mut self, cell: u64) -> Option<u32> {
        let Links { cells, by_address, .. } = self;
        for (number, cell) in cells.iter().enumerate().skip(by_address.len()) {
            by_address.insert(address(cell), number as u32);
        }
        by_address.get(&cell).copied()
    }

    /// Routes calls of a function to the engine.
    pub(crate) fn close(&self, number: u32) {
        self.code_cell(number).close();
    }

    /// Makes the call cell of a function that is gone that of the next with its number.
    pub(crate) fn renew(&self, number: u32) {
        self.cell(number).renew();
    }

    /// Routes calls of a function with an unusual number of arguments to the engine.
    pub(crate) fn close_fallback(&self, number: u32) {
        self.code_cell(number).close_fallback();
    }

    /// Calls a function by its call cell, as compiled code does.
    ///
    /// # Safety
    ///
    /// The engine must be running, and the context must be of the type that its templates expect. Nothing may borrow it.
    pub(crate) unsafe fn call(
        links: &RefCell<Links>,
        number: u32,
        context: *mut (),
        args: &[u64],
    ) -> Option<Result<u64, Trap>> {
        let cell: *const CallCell = links.borrow().cell(number);
        // SAFETY: call cells do not move, and the caller promises the rest.
        Some(unsafe { (*cell).call(context, args) }.result())
    }

    /// Likewise, with the first `count` of these arguments.
    ///
    /// # Safety
    ///
    /// As for [`call`](Links::call); `count` is at most the number of words.
    #[inline(always)]
    pub(crate) unsafe fn call_with_few(
        links: &RefCell<Links>,
        number: u32,
        context: *mut (),
        args: &[u64; MAX_REGISTER_ARGUMENTS],
        count: usize,
    ) -> Option<Result<u64, Trap>> {
        let cell: *const CallCell = links.borrow().cell(number);
        // SAFETY: call cells do not move, and the caller promises the rest.
        Some(unsafe { (*cell).call_with_few(context, args, count) }.result())
    }

    /// Calls the function of the pending tail call, and runs the functions that it tail-calls in turn.
    ///
    /// # Safety
    ///
    /// As for [`call`](Links::call), and there must be a pending tail call.
    pub(crate) unsafe fn call_next(links: &RefCell<Links>, context: *mut ()) -> Option<Result<u64, Trap>> {
        // Not `&raw const *`: that would borrow the links until the call ends.
        let host: *const Host = Arc::as_ptr(&links.borrow().host);
        // SAFETY: the host does not move, and the caller promises the rest. The callee has read its arguments before it
        // makes a tail call itself.
        let outcome = unsafe {
            let (cell, args) = (*host).next();
            cell.call(context, args)
        };
        Some(outcome.result())
    }

    /// Makes a tail call pending: the function runs when the one that runs now has ended.
    pub(crate) fn set_tail_call(&self, context: *mut (), number: u32, args: &[u64]) {
        let cell = self.cells.get(number as usize).unwrap_or(&self.nobody);
        self.host.set_tail_call(cell, context, args);
    }

    /// A function has failed, and its caller goes on. Returns the code of the trap that the caller sees.
    pub(crate) fn caught(&self, trap: Trap) -> u32 {
        self.host.caught(trap.code() as u64) as u32
    }

    /// Whether a failure has gone no further since this was asked.
    pub(crate) fn take_caught(&self) -> bool {
        self.host.take_caught()
    }

    /// The number of the function of the pending tail call, and how many arguments it gets.
    pub(crate) fn next(&self) -> (u32, usize) {
        // SAFETY: this is only called after a function ended in a tail call, and call cells live as long as the host.
        let (cell, args) = unsafe { self.host.next() };
        (cell.function(), args.len())
    }

    /// Copies the arguments of the pending tail call to a frame.
    pub(crate) fn give_next(&self, frame: &mut [u64]) {
        // SAFETY: as above.
        let (_, args) = unsafe { self.host.next() };
        frame[..args.len()].copy_from_slice(args);
    }

    /// Saves the pending tail call while a function's maker runs other functions.
    pub(crate) fn save_tail_call(&self) -> SavedTailCall {
        self.host.save_tail_call()
    }

    /// Restores a saved tail call.
    pub(crate) fn restore_tail_call(&self, saved: SavedTailCall) {
        self.host.restore_tail_call(saved);
    }

    /// The functions as compilers take them.
    pub(crate) fn functions(&self) -> Linkage<'_> {
        let cells = self.addresses.up_to(self.cells.len());
        let table = std::ptr::from_ref(&*self.table).addr() as u64;
        Linkage {
            stop: self.host.stop_word(),
            fuel: self.fuel,
            only_read: self.only_read,
            ..CallCell::functions(Machine::STUBS, cells, table)
        }
    }

    /// A snapshot for a compiler on another thread.
    pub(crate) fn shared(&self) -> Shared {
        let Linkage { cells, table, stop, fuel, only_read, .. } = self.functions();
        Shared { addresses: Arc::clone(&self.addresses), len: cells.len(), table, stop, fuel, only_read }
    }

    /// A handle with which other threads stop the program.
    pub(crate) fn remote(&self) -> Remote {
        Remote::of(&self.host)
    }

    /// Limits the program by this fuel. The word must not move.
    pub(crate) fn set_fuel(&mut self, fuel: &Word) {
        self.fuel = Some(fuel.address());
        self.host.allow_stops();
    }

    /// Makes code that is compiled from now on check for stops.
    pub(crate) fn allow_stops(&self) {
        self.host.allow_stops();
    }

    /// Whether code that is compiled from now on takes it that nobody writes registers through frames. Returns what it took before.
    pub(crate) fn set_only_read(&mut self, only_read: bool) -> bool {
        std::mem::replace(&mut self.only_read, only_read)
    }
}
