//! Call cells: how functions of bytecode call each other.
//!
//! In: functions, as they get code and lose it. Out: a [`CallCell`] for each function, which compiled callers jump through. A cell
//! never moves. Its `entry` is the address of machine code that takes calls of the function, or of [`resolve`], which asks the
//! host. So a function is compiled, recompiled and thrown away under its callers by one store to its cell.
//!
//! A call follows the convention [`crate::abi::BYTECODE`]:
//!
//! | register | holds |
//! | --- | --- |
//! | `rsi` | the callee's cell |
//! | `rdi` | the context |
//! | `rax` | the number of arguments |
//! | `rdx` `rcx` `r8` `r9` `r10` | the first five arguments; the others are on the stack, as in the System V convention |
//!
//! It returns the bits of the result in `rax` and zero in `rdx`, or a trap's
//! [code](azulejo_core::vocab::Trap::code) in `rdx`.
//!
//! A caller whose arguments are already in memory jumps to the cell's second entry, with their address in `rdx` and their number
//! in `rcx`. By default that entry is [`unpack`], which loads them into the registers above; code that reads arguments from
//! memory puts its own address there.

use azulejo_code::memory::near::Word;
use azulejo_code::status::RawStatus;
use azulejo_core::pass::build::{CallEntry, Functions};
use azulejo_core::vocab::Trap;
use core::cell::{Cell, RefCell};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::Arc;

/// How many arguments are passed in registers.
pub const REGISTER_ARGUMENTS: usize = 5;

const _: () = assert!(
    REGISTER_ARGUMENTS + 1 == crate::abi::BYTECODE.int_args.len(),
    "the context is the other argument"
);

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
    resolve: unsafe extern "sysv64-unwind" fn(&mut UnresolvedCall),
    resume: unsafe extern "sysv64-unwind" fn(&CallCell, *mut (), *mut u64, RawStatus) -> Outcome,
    note: unsafe extern "sysv64-unwind" fn(&CallCell, u32),
    /// A stub that calls `note`: the failing function's cell is in `rsi`, the bytecode in `eax`. It preserves `rdx`.
    note_stub: unsafe extern "sysv64-unwind" fn(),
    /// A stub that enters the pending tail call's function. The host is in `r11`, and the stack is as it was when the function
    /// that has ended was entered.
    enter_next: unsafe extern "sysv64-unwind" fn(),
    owner: Cell<*const ()>,
    next: PendingTailCall,
}

/// A tail call that was announced: its function runs when the running one has ended, in the same call.
#[repr(C)]
#[derive(Debug)]
struct PendingTailCall {
    cell: Cell<*const CallCell>,
    context: Cell<*mut ()>,
    count: Cell<usize>,
    args: Cell<*mut u64>,
    memory: RefCell<Vec<u64>>,
}

/// A pending tail call, kept while other functions run.
#[derive(Debug)]
pub struct SavedTailCall {
    cell: *const CallCell,
    context: *mut (),
    args: Vec<u64>,
}

impl PendingTailCall {
    const fn nobody() -> PendingTailCall {
        PendingTailCall {
            cell: Cell::new(core::ptr::null()),
            context: Cell::new(core::ptr::null_mut()),
            count: Cell::new(0),
            args: Cell::new(core::ptr::null_mut()),
            memory: RefCell::new(Vec::new()),
        }
    }
}

/// Set in an outcome's `trap` when the function ended in a tail call, so that there is no result yet.
pub const TAIL_CALL: u64 = 1 << 32;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The bits of the result.
    pub value: u64,
    /// A trap's code, or zero if there is a result; or [`TAIL_CALL`].
    pub trap: u64,
}

/// A call of a function that has no code for it.
#[repr(C)]
#[derive(Debug)]
pub struct UnresolvedCall {
    /// The context.
    pub context: *mut (),
    cell: *const CallCell,
    count: u64,
    registers: [u64; REGISTER_ARGUMENTS],
    on_stack: *const u64,
    /// Where the call goes on; if it is null, it has ended.
    pub entry: *const u8,
    outcome: Outcome,
}

impl Host {
    /// With three callbacks, for functions that do not run yet:
    ///
    /// - `resolve` gets a call whose function has no code for it. It runs the function, or names the code that does.
    /// - `resume` runs a function to its end whose code exited. It gets the context, the frame and the status.
    /// - `note` is told of each function that fails, and at which bytecode, if code was compiled
    ///   [for that](crate::Compiler::with_backtraces).
    pub fn new(
        resolve: unsafe extern "sysv64-unwind" fn(&mut UnresolvedCall),
        resume: unsafe extern "sysv64-unwind" fn(&CallCell, *mut (), *mut u64, RawStatus) -> Outcome,
        note: unsafe extern "sysv64-unwind" fn(&CallCell, u32),
    ) -> Host {
        Host {
            lowest: AtomicUsize::new(usize::MAX),
            limit: AtomicUsize::new(usize::MAX),
            stop: Word::new(),
            may_stop: Cell::new(false),
            resolve,
            resume,
            note,
            note_stub,
            enter_next: next,
            owner: Cell::new(core::ptr::null()),
            next: PendingTailCall::nobody(),
        }
    }

    /// Says whose functions these are now, for the two functions, and how far down the machine's stack may be used.
    pub fn begin(&self, owner: *const (), lowest: usize) {
        self.owner.set(owner);
        let lowest = lowest.saturating_add(crate::invoke::SLACK);
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

    /// Announces a tail call of this function, with so many arguments; returns where they are to be written.
    pub fn begin_tail_call(&self, cell: &CallCell, context: *mut (), count: usize) -> *mut u64 {
        let PendingTailCall { memory, .. } = &self.next;
        let mut memory = memory.borrow_mut();
        // As many are read as are passed in registers.
        if memory.len() < count.max(REGISTER_ARGUMENTS) {
            memory.resize(count.max(REGISTER_ARGUMENTS).next_power_of_two(), 0);
        }
        self.next.cell.set(cell);
        self.next.context.set(context);
        self.next.count.set(count);
        self.next.args.set(memory.as_mut_ptr());
        memory.as_mut_ptr()
    }

    /// The pending tail call's function and arguments, which stay until the next tail call is announced.
    ///
    /// # Safety
    ///
    /// There must be one, and its call cell must still be there.
    pub unsafe fn next(&self) -> (&CallCell, &[u64]) {
        let PendingTailCall { cell, count, args, .. } = &self.next;
        // SAFETY: the caller promises it; the arguments are in memory that only grows when the next one is announced.
        unsafe { (&*cell.get(), core::slice::from_raw_parts(args.get(), count.get())) }
    }

    /// Keeps the pending tail call while other functions run, which may make tail calls of their own.
    pub fn save_tail_call(&self) -> SavedTailCall {
        let PendingTailCall { cell, context, .. } = &self.next;
        let args = match cell.get().is_null() {
            true => Vec::new(),
            // SAFETY: there is one. Call cells stay as long as the host does.
            false => unsafe { self.next() }.1.to_vec(),
        };
        SavedTailCall { cell: cell.get(), context: context.get(), args }
    }

    /// Has it run next again.
    pub fn restore_tail_call(&self, saved: SavedTailCall) {
        let SavedTailCall { cell, context, args } = saved;
        // SAFETY: as above.
        let Some(cell) = (unsafe { cell.as_ref() }) else { return };
        let room = self.begin_tail_call(cell, context, args.len());
        // SAFETY: there is room for so many, and nobody else has the address.
        unsafe { room.copy_from_nonoverlapping(args.as_ptr(), args.len()) };
    }

    /// Whose functions these are.
    pub fn owner(&self) -> *const () {
        self.owner.get()
    }

    /// Where in it these are.
    pub(crate) const LOWEST: usize = offset_of!(Host, lowest);
    pub(crate) const RESUME: usize = offset_of!(Host, resume);
    pub(crate) const NOTE_STUB: usize = offset_of!(Host, note_stub);
    pub(crate) const ENTER_NEXT: usize = offset_of!(Host, enter_next);
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

impl CallCell {
    /// A function that is not compiled.
    ///
    /// # Safety
    ///
    /// The host must live as long as compiled code can call the function.
    pub unsafe fn new(host: *const Host, function: u32) -> CallCell {
        let [entry, fallback] = [(); 2].map(|()| Cell::new(Self::nowhere()));
        CallCell { entry, unpack: Cell::new(Self::unpack()), fallback, host, function }
    }

    /// Where in a call cell its host is.
    pub(crate) const HOST: usize = offset_of!(CallCell, host);
    /// Where in it is where calls go that leave their arguments in memory.
    pub(crate) const UNPACK: usize = offset_of!(CallCell, unpack);

    /// Where in it is where calls with another number of arguments go.
    pub(crate) const FALLBACK: usize = offset_of!(CallCell, fallback);

    /// The code of functions that have none.
    pub(crate) fn nowhere() -> *const u8 {
        resolve as *const u8
    }

    /// The code that takes arguments from memory to where calls have them.
    pub(crate) fn unpack() -> *const u8 {
        unpack as *const u8
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
        self.entry.set(Self::nowhere());
        self.unpack.set(Self::unpack());
        self.close_fallback();
    }

    /// Sends calls whose number of arguments the entry does not take to the host.
    pub fn close_fallback(&self) {
        self.fallback.set(Self::nowhere());
    }

    /// Sends calls whose number of arguments the entry does not take to this adapter, which must take any number.
    pub fn open_fallback(&self, adapter: &crate::invoke::Adapter) {
        debug_assert!(adapter.takes_any_number());
        self.fallback.set(adapter.entry());
    }

    /// Sends calls to an adapter.
    pub fn open(&self, adapter: &crate::invoke::Adapter) {
        self.entry.set(adapter.entry());
        self.unpack.set(adapter.memory_entry());
    }

    /// Sends calls to code that was compiled for them.
    ///
    /// # Safety
    ///
    /// The code must have been compiled with a [`CallEntry`], for this call cell.
    pub unsafe fn open_to(&self, code: &crate::compile::Compiled) {
        self.entry.set(code.entry());
        self.unpack.set(Self::unpack());
    }

    /// Calls the function as compiled code would.
    ///
    /// # Safety
    ///
    /// The host's owner must be what its functions take it for, and the context what the function's templates do; there must
    /// be as much of the machine's stack left as the host was told.
    ///
    pub unsafe fn call(&self, context: *mut (), args: &[u64]) -> Outcome {
        let mut few = [0; REGISTER_ARGUMENTS];
        let all = match few.get_mut(..args.len()) {
            Some(first) => {
                first.copy_from_slice(args);
                &few[..]
            }
            None => args,
        };
        // SAFETY: the caller promises it, and there are as many in memory as registers.
        unsafe { call(self, context, all.as_ptr(), args.len()) }
    }

    /// What compilers are told of functions with these call cells, which a table at this address tells of too.
    pub fn functions(cells: &[u64], table: u64) -> Functions<'_> {
        let [set_tail_call, begin_tail_call] =
            [set_tail_call as *const (), begin_tail_call as *const ()].map(|address| address.addr() as u64);
        Functions { cells, table, set_tail_call, begin_tail_call, stop: None, fuel: None }
    }

    /// What the optimizer is told of this function for calls with so many arguments; `unit` is what `(cu)` gives.
    pub(crate) fn call_entry(&self, arguments: u32, unit: *const ()) -> CallEntry {
        let cell = core::ptr::from_ref(self).addr() as u64;
        CallEntry { arguments, unit: unit.addr() as u64, cell, resume: self.resume() }
    }

    /// The address of the function that goes on where code was left.
    pub fn resume(&self) -> u64 {
        self.host().resume as *const () as u64
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

impl UnresolvedCall {
    /// The call cell of the function that was called.
    pub fn cell(&self) -> &CallCell {
        // SAFETY: a call is made with a call cell, which stays.
        unsafe { &*self.cell }
    }

    /// How many arguments it was given.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The call has ended so.
    pub fn end(&mut self, outcome: Outcome) {
        self.entry = core::ptr::null();
        self.outcome = outcome;
    }

    /// The call goes on in the function that runs next.
    pub fn enter_next(&mut self) {
        self.entry = next_of_cell as *const u8;
    }

    /// An argument's bits.
    pub fn argument(&self, at: usize) -> u64 {
        assert!(at < self.count(), "there are {} arguments", self.count);
        match self.registers.get(at) {
            Some(bits) => *bits,
            // SAFETY: the caller stored all others there.
            None => unsafe { *self.on_stack.add(at - REGISTER_ARGUMENTS) },
        }
    }
}

/// Loads the arguments that are passed in registers from where they stand in a row.
macro_rules! load_arguments {
    ($from:literal) => {
        concat!(
            concat!("mov rdx, [", $from, "]\n"),
            concat!("mov rcx, [", $from, " + 8]\n"),
            concat!("mov r8, [", $from, " + 16]\n"),
            concat!("mov r9, [", $from, " + 24]\n"),
            concat!("mov r10, [", $from, " + 32]"),
        )
    };
}

/// Makes a frame in which `rdx` is where the stack pointer is to be for `rcx` arguments.
macro_rules! make_frame {
    () => {
        concat!(
            "push rbp\n",
            ".cfi_def_cfa_offset 16\n",
            ".cfi_offset rbp, -16\n",
            "mov rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "lea rdx, [rcx * 8 + 15]\n",
            "and rdx, -16\n",
            "neg rdx\n",
            "add rdx, rsp",
        )
    };
}

/// Calls the function with the call cell in `rsi`: copies `rcx` arguments to the stack from behind those that are passed in
/// registers, which it loads; all of them stand in a row at `r11`.
macro_rules! call_with_all {
    () => {
        concat!(
            "9:\n",
            "mov rdx, [r11 + rcx * 8 + {registers} * 8 - 8]\n",
            "mov [rsp + rcx * 8 - 8], rdx\n",
            "dec rcx\n",
            "jne 9b\n",
            load_arguments!("r11"),
            "\n",
            "call [rsi + {entry}]",
        )
    };
}

/// Takes such a frame back and returns; at this label it does so for want of room.
macro_rules! drop_frame {
    ($overflow:literal) => {
        concat!(
            "leave\n",
            ".cfi_remember_state\n",
            ".cfi_def_cfa rsp, 8\n",
            "ret\n",
            concat!($overflow, ":\n"),
            ".cfi_restore_state\n",
            "mov edx, {overflow}\n",
            "leave\n",
            ".cfi_def_cfa rsp, 8\n",
            "ret",
        )
    };
}

/// Makes a call with arguments from memory, where there are at least as many as are passed in registers.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn call(
    cell: &CallCell,
    context: *mut (),
    args: *const u64,
    count: usize,
) -> Outcome {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "xchg rdi, rsi",
        "jmp [rsi + {unpack}]",
        ".cfi_endproc",
        unpack = const CallCell::UNPACK,
    )
}

/// Goes on in the function with the call cell in `rsi`, with arguments from memory: there may be fewer, but there is as much
/// to be read as is passed in registers. Where that is all, nothing is put on the stack.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn unpack() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, rdx",
        "mov eax, ecx",
        "sub rcx, {registers}",
        "ja 2f",
        load_arguments!("r11"),
        "jmp [rsi + {entry}]",
        "2:",
        make_frame!(),
        "mov r8, [rsi + {host}]",
        "cmp rdx, [r8 + {lowest}]",
        "jb 4f",
        "mov rsp, rdx",
        call_with_all!(),
        drop_frame!("4"),
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        host = const offset_of!(CallCell, host),
        lowest = const Host::LOWEST,
        overflow = const Trap::StackOverflow.code(),
        entry = const offset_of!(CallCell, entry),
    )
}

unsafe extern "sysv64-unwind" fn set_tail_call(
    cell: &CallCell,
    context: *mut (),
    args: *const u64,
    count: usize,
) {
    let room = cell.host().begin_tail_call(cell, context, count);
    // SAFETY: compiled code says where its arguments are, and they are not in the host's memory.
    unsafe { room.copy_from_nonoverlapping(args, count) };
}

unsafe extern "sysv64-unwind" fn begin_tail_call(
    cell: &CallCell,
    context: *mut (),
    count: usize,
) -> *mut u64 {
    cell.host().begin_tail_call(cell, context, count)
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn next_of_cell() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, [rsi + {host}]",
        "jmp {next}",
        ".cfi_endproc",
        host = const offset_of!(CallCell, host),
        next = sym next,
    )
}

/// Goes on in the function that runs next, as if the caller of the one that ended had called it. Arguments on the stack
/// need room, which that caller has not left: they get a frame, which is taken away when the next function ends, or when
/// it, too, is followed by one with such arguments.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn next() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov rsi, [r11 + {cell}]",
        "mov rdi, [r11 + {context}]",
        "mov rax, [r11 + {count}]",
        "mov rcx, rax",
        "sub rcx, {registers}",
        "ja 2f",
        "mov r11, [r11 + {args}]",
        load_arguments!("r11"),
        "jmp [rsi + {entry}]",
        "2:",
        "lea rdx, [rip + 5f]",
        "cmp [rsp], rdx",
        "jne 3f",
        "mov rsp, rbp",
        "pop rbp",
        "3:",
        make_frame!(),
        "cmp rdx, [r11 + {lowest}]",
        "jb 6f",
        "mov rsp, rdx",
        "mov r11, [r11 + {args}]",
        call_with_all!(),
        "5:",
        drop_frame!("6"),
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        cell = const offset_of!(Host, next.cell),
        context = const offset_of!(Host, next.context),
        count = const offset_of!(Host, next.count),
        args = const offset_of!(Host, next.args),
        lowest = const Host::LOWEST,
        overflow = const Trap::StackOverflow.code(),
        entry = const offset_of!(CallCell, entry),
    )
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn note_stub() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 16",
        "and rsp, -16",
        "mov [rbp - 8], rdx",
        "mov rdi, rsi",
        "mov esi, eax",
        "mov rax, [rdi + {host}]",
        "call [rax + {note}]",
        "mov rdx, [rbp - 8]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        host = const offset_of!(CallCell, host),
        note = const offset_of!(Host, note),
    )
}

/// How much of the stack [`resolve`] takes: an [`UnresolvedCall`], and what makes it a multiple of 16 with the return address.
const ROOM: usize = size_of::<UnresolvedCall>().next_multiple_of(16) + 8;

/// Writes a call down for the host, and does what it says.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn resolve() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, {room}",
        ".cfi_adjust_cfa_offset {room}",
        "mov [rsp + {context}], rdi",
        "mov [rsp + {cell}], rsi",
        "mov [rsp + {count}], rax",
        "mov [rsp + {registers}], rdx",
        "mov [rsp + {registers} + 8], rcx",
        "mov [rsp + {registers} + 16], r8",
        "mov [rsp + {registers} + 24], r9",
        "mov [rsp + {registers} + 32], r10",
        "lea rax, [rsp + {room} + 8]",
        "mov [rsp + {on_stack}], rax",
        "mov rdi, rsp",
        "mov rax, [rsi + {host}]",
        "call [rax + {resolve}]",
        "mov r11, [rsp + {entry}]",
        "test r11, r11",
        "jne 2f",
        "mov rax, [rsp + {value}]",
        "mov rdx, [rsp + {trap}]",
        "add rsp, {room}",
        ".cfi_adjust_cfa_offset -{room}",
        "ret",
        "2:",
        ".cfi_adjust_cfa_offset {room}",
        "mov rdi, [rsp + {context}]",
        "mov rsi, [rsp + {cell}]",
        "mov rax, [rsp + {count}]",
        load_arguments!("rsp + {registers}"),
        "add rsp, {room}",
        ".cfi_adjust_cfa_offset -{room}",
        "jmp r11",
        ".cfi_endproc",
        room = const ROOM,
        context = const offset_of!(UnresolvedCall, context),
        cell = const offset_of!(UnresolvedCall, cell),
        count = const offset_of!(UnresolvedCall, count),
        registers = const offset_of!(UnresolvedCall, registers),
        on_stack = const offset_of!(UnresolvedCall, on_stack),
        entry = const offset_of!(UnresolvedCall, entry),
        value = const offset_of!(UnresolvedCall, outcome.value),
        trap = const offset_of!(UnresolvedCall, outcome.trap),
        host = const offset_of!(CallCell, host),
        resolve = const offset_of!(Host, resolve),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use azulejo_core::pass::build::MAX_ARGUMENTS;

    unsafe extern "sysv64-unwind" fn add_up(unresolved: &mut UnresolvedCall) {
        let sum = (0..unresolved.count()).map(|at| unresolved.argument(at) * (at as u64 + 1)).sum::<u64>();
        let context = unresolved.context.addr() as u64;
        unresolved.end(Outcome { value: sum + context, trap: unresolved.cell().function() as u64 });
    }

    unsafe extern "sysv64-unwind" fn never(_: &CallCell, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("no code is left")
    }

    unsafe extern "sysv64-unwind" fn nowhere(_: &CallCell, _: u32) {
        unreachable!("nothing fails")
    }

    #[test]
    fn a_call_arrives_with_all_its_arguments() {
        let host = Host::new(add_up, never, nowhere);
        // There is as much of the stack as there is.
        host.begin(core::ptr::null(), 0);
        // SAFETY: the host lives longer.
        let cell = unsafe { CallCell::new(&host, 9) };
        for count in 0..=MAX_ARGUMENTS {
            let args: Vec<u64> = (0..count as u64).map(|at| at * 3 + 1).collect();
            let sum: u64 = args.iter().zip(1..).map(|(bits, factor)| bits * factor).sum();
            // SAFETY: the host's functions take any context.
            let outcome = unsafe { cell.call(core::ptr::without_provenance_mut(5), &args) };
            assert_eq!((outcome.value, outcome.trap), (sum + 5, 9));
        }
    }

    /// Threads that stop a program and take that back come between each other anywhere; in the end the stack ends where the
    /// last of them says.
    #[test]
    fn the_end_of_the_stack_is_what_the_last_one_says() {
        const ROUNDS: usize = 20_000;
        #[allow(clippy::arc_with_non_send_sync, reason = "others have it as a `Remote`")]
        let host = Arc::new(Host::new(add_up, never, nowhere));
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
