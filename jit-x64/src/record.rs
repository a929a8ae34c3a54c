//! Records: by what functions of bytecode call each other.
//!
//! Each function has a [`Record`], which stays where it is and says where a call goes: to machine code that takes such
//! calls, or to [`arrive`], which asks the host. Compiled code has the record's address, so a function can be compiled,
//! compiled anew and thrown away under its callers by one store.
//!
//! A call is made as [`crate::abi::BYTECODE`] says: the record in `rsi`, the context in `rdi`, the number of arguments in
//! `rax`, five of them in registers and the others where a System V call has them. It ends with the bits of the result in
//! `rax` and zero in `rdx`, or with [`Trap::code`](azulejo_core::vocab::Trap::code) in `rdx`.
//!
//! A caller whose arguments are in memory leaves them there: it calls another way in, which the record has too, with their
//! address in `rdx` and their number in `rcx`. That is [`spread`], which puts them where such calls have them, unless there
//! is code that wants them in memory.

use crate::compile::RawStatus;
use azulejo_code::memory::near::Word;
use azulejo_core::pass::build::{Called, Functions};
use azulejo_core::vocab::Trap;
use core::cell::{Cell, RefCell};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::Arc;

/// How many arguments are passed in registers.
pub const REGISTER_ARGUMENTS: usize = 5;

/// A function as those see it that call it.
#[repr(C)]
#[derive(Debug)]
pub struct Record {
    /// Where calls go.
    entry: Cell<*const u8>,
    /// Where those go that leave their arguments in memory.
    spread: Cell<*const u8>,
    /// Where code that is only for calls with a certain number of arguments sends all others.
    aside: Cell<*const u8>,
    host: *const Host,
    /// The function's number.
    function: u32,
}

/// What all records of an engine share.
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
    arrive: unsafe extern "sysv64-unwind" fn(&mut Arrival),
    go_on: unsafe extern "sysv64-unwind" fn(&Record, *mut (), *mut u64, RawStatus) -> Outcome,
    note: unsafe extern "sysv64-unwind" fn(&Record, u32),
    /// A piece of code that has it noted that the function with the record in `rsi` fails, at the bytecode in `eax`. What is in
    /// `rdx` stays there.
    noting: unsafe extern "sysv64-unwind" fn(),
    /// A piece of code that goes on in the function that runs next; the host is in `r11`, and the stack is as it was when
    /// the function was entered that ended.
    go_to_next: unsafe extern "sysv64-unwind" fn(),
    owner: Cell<*const ()>,
    next: Next,
}

/// A function that takes another one's place: it runs when that one has ended, in the same call.
#[repr(C)]
#[derive(Debug)]
struct Next {
    record: Cell<*const Record>,
    context: Cell<*mut ()>,
    count: Cell<usize>,
    args: Cell<*mut u64>,
    memory: RefCell<Vec<u64>>,
}

/// What was to run next when others ran.
#[derive(Debug)]
pub struct Aside {
    record: *const Record,
    context: *mut (),
    args: Vec<u64>,
}

impl Next {
    const fn nobody() -> Next {
        Next {
            record: Cell::new(core::ptr::null()),
            context: Cell::new(core::ptr::null_mut()),
            count: Cell::new(0),
            args: Cell::new(core::ptr::null_mut()),
            memory: RefCell::new(Vec::new()),
        }
    }
}

/// Set in an outcome's `trap` if there is none yet, because another function takes the place of the one that ended.
pub const PUT_OFF: u64 = 1 << 32;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The bits of the result.
    pub value: u64,
    /// A trap's code, or zero if there is a result; or [`PUT_OFF`].
    pub trap: u64,
}

/// A call that came to a function without code for it.
#[repr(C)]
#[derive(Debug)]
pub struct Arrival {
    /// The context.
    pub context: *mut (),
    record: *const Record,
    count: u64,
    registers: [u64; REGISTER_ARGUMENTS],
    on_stack: *const u64,
    /// Where the call goes on; if it is null, it has ended.
    pub entry: *const u8,
    outcome: Outcome,
}

impl Host {
    /// For functions that nobody runs yet. `arrive` is called with a function that has no code for a call: it runs the
    /// function, or says where there is code now. `go_on` is called when code that a [`Door`](crate::invoke::Door) led to was
    /// left before its end, with the context, the frame, and how it was left: it runs the function to its end. `note` is called
    /// with each function that fails, and the bytecode at which it does, if code was compiled
    /// [for that](crate::Compiler::with_backtraces).
    pub fn new(
        arrive: unsafe extern "sysv64-unwind" fn(&mut Arrival),
        go_on: unsafe extern "sysv64-unwind" fn(&Record, *mut (), *mut u64, RawStatus) -> Outcome,
        note: unsafe extern "sysv64-unwind" fn(&Record, u32),
    ) -> Host {
        Host {
            lowest: AtomicUsize::new(usize::MAX),
            limit: AtomicUsize::new(usize::MAX),
            stop: Word::new(),
            may_stop: Cell::new(false),
            arrive,
            go_on,
            note,
            noting,
            go_to_next: next,
            owner: Cell::new(core::ptr::null()),
            next: Next::nobody(),
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

    /// Has this function of the host's run when the one has ended that runs now; where its arguments go.
    pub fn room(&self, record: &Record, context: *mut (), count: usize) -> *mut u64 {
        let Next { memory, .. } = &self.next;
        let mut memory = memory.borrow_mut();
        // As many are read as are passed in registers.
        if memory.len() < count.max(REGISTER_ARGUMENTS) {
            memory.resize(count.max(REGISTER_ARGUMENTS).next_power_of_two(), 0);
        }
        self.next.record.set(record);
        self.next.context.set(context);
        self.next.count.set(count);
        self.next.args.set(memory.as_mut_ptr());
        memory.as_mut_ptr()
    }

    /// The function that runs next, and its arguments, which stay until the next one is said.
    ///
    /// # Safety
    ///
    /// There must be one, and its record must still be there.
    pub unsafe fn next(&self) -> (&Record, &[u64]) {
        let Next { record, count, args, .. } = &self.next;
        // SAFETY: the caller promises it; the arguments are in memory that only grows when the next one is said.
        unsafe { (&*record.get(), core::slice::from_raw_parts(args.get(), count.get())) }
    }

    /// Keeps what runs next while other functions run, whose calls may be put off too.
    pub fn put_aside(&self) -> Aside {
        let Next { record, context, .. } = &self.next;
        let args = match record.get().is_null() {
            true => Vec::new(),
            // SAFETY: there is one. Records stay as long as the host does.
            false => unsafe { self.next() }.1.to_vec(),
        };
        Aside { record: record.get(), context: context.get(), args }
    }

    /// Has it run next again.
    pub fn bring_back(&self, aside: Aside) {
        let Aside { record, context, args } = aside;
        // SAFETY: as above.
        let Some(record) = (unsafe { record.as_ref() }) else { return };
        let room = self.room(record, context, args.len());
        // SAFETY: there is room for so many, and nobody else has the address.
        unsafe { room.copy_from_nonoverlapping(args.as_ptr(), args.len()) };
    }

    /// Whose functions these are.
    pub fn owner(&self) -> *const () {
        self.owner.get()
    }

    /// Where in it these are.
    pub(crate) const LOWEST: usize = offset_of!(Host, lowest);
    pub(crate) const GO_ON: usize = offset_of!(Host, go_on);
    pub(crate) const NOTING: usize = offset_of!(Host, noting);
    pub(crate) const GO_TO_NEXT: usize = offset_of!(Host, go_to_next);
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

impl Record {
    /// A function that is not compiled.
    ///
    /// # Safety
    ///
    /// The host must live as long as compiled code can call the function.
    pub unsafe fn new(host: *const Host, function: u32) -> Record {
        let [entry, aside] = [(); 2].map(|()| Cell::new(Self::nowhere()));
        Record { entry, spread: Cell::new(Self::spread()), aside, host, function }
    }

    /// Where in a record its host is.
    pub(crate) const HOST: usize = offset_of!(Record, host);
    /// Where in it is where calls go that leave their arguments in memory.
    pub(crate) const SPREAD: usize = offset_of!(Record, spread);

    /// Where in it is where calls with another number of arguments go.
    pub(crate) const ASIDE: usize = offset_of!(Record, aside);

    /// The code of functions that have none.
    pub(crate) fn nowhere() -> *const u8 {
        arrive as *const u8
    }

    /// The code that takes arguments from memory to where calls have them.
    pub(crate) fn spread() -> *const u8 {
        spread as *const u8
    }

    /// Which function it is.
    pub fn function(&self) -> u32 {
        self.function
    }

    /// What it shares with others.
    pub fn host(&self) -> &Host {
        // SAFETY: who made the record saw to it.
        unsafe { &*self.host }
    }

    /// Has calls go to the host.
    pub fn close(&self) {
        self.entry.set(Self::nowhere());
        self.spread.set(Self::spread());
        self.close_aside();
    }

    /// Has those calls go to the host that are not for the code that others enter.
    pub fn close_aside(&self) {
        self.aside.set(Self::nowhere());
    }

    /// Has those calls go to a door that are not for the code that others enter. The door must be for any number of arguments.
    pub fn open_aside(&self, door: &crate::invoke::Door) {
        debug_assert!(door.takes_any_number());
        self.aside.set(door.entry());
    }

    /// Has calls go to a door.
    pub fn open(&self, door: &crate::invoke::Door) {
        self.entry.set(door.entry());
        self.spread.set(door.memory_entry());
    }

    /// Has calls go to code that was compiled for them.
    ///
    /// # Safety
    ///
    /// The code must have been compiled with a [`Called`], for this record.
    pub unsafe fn open_to(&self, code: &crate::compile::Compiled) {
        self.entry.set(code.entry());
        self.spread.set(Self::spread());
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

    /// What compilers are told of functions with these records, which a table at this address tells of too.
    pub fn functions(records: &[u64], table: u64) -> Functions<'_> {
        let [put_off, room] = [put_off as *const (), room as *const ()].map(|address| address.addr() as u64);
        Functions { records, table, put_off, room, stop: None, fuel: None }
    }

    /// What the optimizer is told of this function for calls with so many arguments; `unit` is what `(cu)` gives.
    pub(crate) fn called(&self, arguments: u32, unit: *const ()) -> Called {
        let record = core::ptr::from_ref(self).addr() as u64;
        Called { arguments, unit: unit.addr() as u64, record, go_on: self.go_on() }
    }

    /// The address of the function that goes on where code was left.
    pub fn go_on(&self) -> u64 {
        self.host().go_on as *const () as u64
    }

    /// Where those go that are not for the code that others enter.
    pub fn aside(&self) -> *const u8 {
        self.aside.get()
    }

    /// Where calls go.
    pub fn entry(&self) -> *const u8 {
        self.entry.get()
    }
}

impl Arrival {
    /// The record of the function that was called.
    pub fn record(&self) -> &Record {
        // SAFETY: a call is made with a record, which stays.
        unsafe { &*self.record }
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
    pub fn go_to_next(&mut self) {
        self.entry = next_by_record as *const u8;
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

/// Makes a call with arguments from memory, where there are at least as many as are passed in registers.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn call(
    record: &Record,
    context: *mut (),
    args: *const u64,
    count: usize,
) -> Outcome {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "xchg rdi, rsi",
        "jmp [rsi + {spread}]",
        ".cfi_endproc",
        spread = const Record::SPREAD,
    )
}

/// Goes on in the function with the record in `rsi`, with arguments from memory: there may be fewer, but there is as much
/// to be read as is passed in registers. Where that is all, nothing is put on the stack.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn spread() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, rdx",
        "mov eax, ecx",
        "sub rcx, {registers}",
        "ja 2f",
        load_arguments!("r11"),
        "jmp [rsi + {entry}]",
        "2:",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "lea rdx, [rcx * 8 + 15]",
        "and rdx, -16",
        "neg rdx",
        "add rdx, rsp",
        "mov r8, [rsi + {host}]",
        "cmp rdx, [r8 + {lowest}]",
        "jb 4f",
        "mov rsp, rdx",
        "3:",
        "mov rdx, [r11 + rcx * 8 + {registers} * 8 - 8]",
        "mov [rsp + rcx * 8 - 8], rdx",
        "dec rcx",
        "jne 3b",
        load_arguments!("r11"),
        "call [rsi + {entry}]",
        "leave",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        "4:",
        ".cfi_restore_state",
        "mov edx, {overflow}",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        host = const offset_of!(Record, host),
        lowest = const Host::LOWEST,
        overflow = const Trap::StackOverflow.code(),
        entry = const offset_of!(Record, entry),
    )
}

unsafe extern "sysv64-unwind" fn put_off(record: &Record, context: *mut (), args: *const u64, count: usize) {
    let room = record.host().room(record, context, count);
    // SAFETY: compiled code says where its arguments are, and they are not in the host's memory.
    unsafe { room.copy_from_nonoverlapping(args, count) };
}

unsafe extern "sysv64-unwind" fn room(record: &Record, context: *mut (), count: usize) -> *mut u64 {
    record.host().room(record, context, count)
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn next_by_record() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11, [rsi + {host}]",
        "jmp {next}",
        ".cfi_endproc",
        host = const offset_of!(Record, host),
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
        "mov rsi, [r11 + {record}]",
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
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "lea rdx, [rcx * 8 + 15]",
        "and rdx, -16",
        "neg rdx",
        "add rdx, rsp",
        "cmp rdx, [r11 + {lowest}]",
        "jb 6f",
        "mov rsp, rdx",
        "mov r11, [r11 + {args}]",
        "4:",
        "mov rdx, [r11 + rcx * 8 + {registers} * 8 - 8]",
        "mov [rsp + rcx * 8 - 8], rdx",
        "dec rcx",
        "jne 4b",
        load_arguments!("r11"),
        "call [rsi + {entry}]",
        "5:",
        "leave",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        "6:",
        ".cfi_restore_state",
        "mov edx, {overflow}",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        registers = const REGISTER_ARGUMENTS,
        record = const offset_of!(Host, next.record),
        context = const offset_of!(Host, next.context),
        count = const offset_of!(Host, next.count),
        args = const offset_of!(Host, next.args),
        lowest = const Host::LOWEST,
        overflow = const Trap::StackOverflow.code(),
        entry = const offset_of!(Record, entry),
    )
}

#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn noting() {
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
        host = const offset_of!(Record, host),
        note = const offset_of!(Host, note),
    )
}

/// How much of the stack [`arrive`] takes: an [`Arrival`], and what makes it a multiple of 16 with the return address.
const ROOM: usize = size_of::<Arrival>().next_multiple_of(16) + 8;

/// Writes a call down for the host, and does what it says.
#[unsafe(naked)]
unsafe extern "sysv64-unwind" fn arrive() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, {room}",
        ".cfi_adjust_cfa_offset {room}",
        "mov [rsp + {context}], rdi",
        "mov [rsp + {record}], rsi",
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
        "call [rax + {arrive}]",
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
        "mov rsi, [rsp + {record}]",
        "mov rax, [rsp + {count}]",
        load_arguments!("rsp + {registers}"),
        "add rsp, {room}",
        ".cfi_adjust_cfa_offset -{room}",
        "jmp r11",
        ".cfi_endproc",
        room = const ROOM,
        context = const offset_of!(Arrival, context),
        record = const offset_of!(Arrival, record),
        count = const offset_of!(Arrival, count),
        registers = const offset_of!(Arrival, registers),
        on_stack = const offset_of!(Arrival, on_stack),
        entry = const offset_of!(Arrival, entry),
        value = const offset_of!(Arrival, outcome.value),
        trap = const offset_of!(Arrival, outcome.trap),
        host = const offset_of!(Record, host),
        arrive = const offset_of!(Host, arrive),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use azulejo_core::pass::build::MAX_ARGUMENTS;

    unsafe extern "sysv64-unwind" fn add_up(arrival: &mut Arrival) {
        let sum = (0..arrival.count()).map(|at| arrival.argument(at) * (at as u64 + 1)).sum::<u64>();
        let context = arrival.context.addr() as u64;
        arrival.end(Outcome { value: sum + context, trap: arrival.record().function() as u64 });
    }

    unsafe extern "sysv64-unwind" fn never(_: &Record, _: *mut (), _: *mut u64, _: RawStatus) -> Outcome {
        unreachable!("no code is left")
    }

    unsafe extern "sysv64-unwind" fn nowhere(_: &Record, _: u32) {
        unreachable!("nothing fails")
    }

    #[test]
    fn a_call_arrives_with_all_its_arguments() {
        let host = Host::new(add_up, never, nowhere);
        // There is as much of the stack as there is.
        host.begin(core::ptr::null(), 0);
        // SAFETY: the host lives longer.
        let record = unsafe { Record::new(&host, 9) };
        for count in 0..=MAX_ARGUMENTS {
            let args: Vec<u64> = (0..count as u64).map(|at| at * 3 + 1).collect();
            let sum: u64 = args.iter().zip(1..).map(|(bits, factor)| bits * factor).sum();
            // SAFETY: the host's functions take any context.
            let outcome = unsafe { record.call(core::ptr::without_provenance_mut(5), &args) };
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
