//! The functions that programs invoke when they run without an engine.
//!
//! In: a function's number and arguments, from the interpreter or, through call cells, from compiled code. Out: the
//! function's result; the interpreter runs it.

use crate::machine::{Callables, Vm};
use crate::program::Program;
use crate::run::{End, Verified, resume, unit};
use azulejo::__private::core::ir::bytecode::{Callable, Functions};
use azulejo::Trap;
use azulejo::x64::call::{CallCell, Host, HostFunctions, Outcome, UnresolvedCall};
use azulejo_code::Machine;
use azulejo_code::emit::Backend;
use azulejo_code::status::RawStatus;
use azulejo_core::pass::build::{self, CellTable, KnownCallee};
use std::cell::{Cell, RefCell};
use std::sync::LazyLock;

/// The functions that accept arbitrary arguments.
pub const FOR_ANYBODY: [u32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13];
/// The number of a program that is compiled for calls.
const PROGRAM: u32 = u32::MAX - 1;
/// Functions of this number and above exist in no engine.
pub const NOBODY: u32 = 1 << 24;

/// The functions, by number.
#[derive(Debug)]
pub struct Library(Vec<Verified>);

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let texts = include_str!("library.txt").split("\n\n").skip(1);
    // Where a line says how many arguments a function takes, it drops those behind them; and has a value in place of those that are missing.
    let read = |text: &str| {
        let (takes, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("takes"));
        let verified = Verified::new(&Program::parse(&rest.join("\n"))?).expect("it is verified");
        let Some(takes) = takes.first() else { return Ok(verified) };
        let numbers: Vec<u64> = takes.split(' ').skip(1).flat_map(str::parse).collect();
        let [takes, missing] = numbers[..] else {
            return Err(format!("`{takes}`: how many, and what instead"));
        };
        Ok(verified.taking(takes as u32, missing))
    };
    Library(texts.map(read).collect::<Result<_, String>>().expect("it can be read"))
});

impl Library {
    /// All functions, by number.
    pub fn functions(&self) -> &[Verified] {
        &self.0
    }

    fn run(&self, context: *mut Vm, function: u32, args: &[u64]) -> End {
        let function = self.0.get(function as usize);
        function.map_or(End::Trapped(Trap::BadCall, 0), |function| function.invoked(context, args))
    }
}

/// The library; there is one for the process.
pub fn library() -> &'static Library {
    &LIBRARY
}

/// The number of the function that a program calls by this address, of sixteen. Those with others' registers as arguments are none of them.
pub(crate) fn called_by_address(at: usize) -> usize {
    FOR_ANYBODY[at % FOR_ANYBODY.len()] as usize
}

impl Functions<Vm> for Library {
    unsafe fn number(&self, callee: *const Callable) -> u32 {
        // SAFETY: the caller guarantees that it is a call cell, and call cells stay.
        unsafe { &*callee.cast::<CallCell>() }.function()
    }

    fn invoke(&self, context: *mut Vm, function: u32, args: &[u64]) -> Result<u64, Trap> {
        match self.run(context, function, args) {
            End::Returned(bits) => Ok(bits),
            End::Trapped(trap, _) => Err(trap),
            end => unreachable!("machine code only ends so: {end:?}"),
        }
    }

    fn caught(&self, trap: Trap) -> Result<u32, Trap> {
        trap.catch()
    }

    fn set_tail_call(&self, context: *mut Vm, function: u32, args: &[u64]) -> Result<(), Trap> {
        let links = Links::current();
        links.host.set_tail_call(links.cell(function), context.cast(), args);
        Ok(())
    }
}

/// Runs the pending tail call.
pub(crate) fn run_next(context: *mut Vm) -> End {
    // SAFETY: somebody put one off, and call cells stay.
    let (cell, args) = unsafe { Links::current().host.next() };
    LIBRARY.run(context, cell.function(), args)
}

/// What compiled code of a machine knows them by.
struct Links {
    host: &'static Host,
    cells: Vec<&'static CallCell>,
    addresses: Vec<u64>,
    table: CellTable,
    callables: [*const Callable; 16],
    /// What a program is called by.
    program: &'static CallCell,
}

thread_local! {
    /// Those of each machine, of each thread, because a pending tail call is the host's. They stay, as code has their addresses.
    static LINKS: RefCell<Vec<(&'static Machine, &'static Links)>> = const { RefCell::new(Vec::new()) };
    /// Those of the machine whose code runs.
    static CURRENT: Cell<Option<&'static Links>> = const { Cell::new(None) };
}

impl Links {
    fn of<M: Backend>() -> &'static Links {
        LINKS.with_borrow_mut(|all| {
            if let Some((_, links)) = all.iter().find(|(machine, _)| std::ptr::eq(*machine, M::MACHINE)) {
                return *links;
            }
            let links = Box::leak(Box::new(Links::new::<M>()));
            all.push((M::MACHINE, links));
            links
        })
    }

    fn new<M: Backend>() -> Links {
        let host: &Host = Box::leak(Box::new(M::host::<Answers>()));
        // Nothing here calls itself without end.
        host.begin(std::ptr::null(), 0);
        let cell = |function| -> &'static CallCell {
            // SAFETY: the host lives as long as the process.
            Box::leak(Box::new(unsafe { CallCell::new(host, function) }))
        };
        let count = LIBRARY.0.len() as u32;
        // Behind them that for all other numbers.
        let cells: Vec<&CallCell> = (0..count).chain([u32::MAX]).map(cell).collect();
        let addresses: Vec<u64> =
            cells.iter().map(|cell| std::ptr::from_ref::<CallCell>(cell).addr() as u64).collect();
        let table = CellTable { cells: addresses.as_ptr(), len: count as u64 };
        let callables = std::array::from_fn(|at| std::ptr::from_ref(cells[called_by_address(at)]).cast());
        Links { host, cells, addresses, table, callables, program: cell(PROGRAM) }
    }

    fn current() -> &'static Links {
        CURRENT.get().expect("a program runs")
    }

    /// The call cell of a function, or that for all other numbers.
    fn cell(&self, function: u32) -> &'static CallCell {
        let nobody = self.cells.len() - 1;
        self.cells[(function as usize).min(nobody)]
    }
}

/// From now on code of this machine runs, and the interpreter beside it.
pub(crate) fn run_on<M: Backend>() {
    CURRENT.set(Some(Links::of::<M>()));
}

/// The functions by address, for programs that run on this thread.
pub(crate) fn callables() -> Callables {
    Callables::of(&Links::current().callables)
}

/// For compilers on this thread.
pub fn links<M: Backend>() -> build::Linkage<'static> {
    let Links { addresses, table, .. } = Links::of::<M>();
    let cells = &addresses[..table.len as usize];
    CallCell::functions(M::STUBS, cells, std::ptr::from_ref(table).addr() as u64)
}

/// The functions as compilers inline them, which know them by these cells. With guards, accesses may fault.
pub(crate) fn callees(functions: build::Linkage<'static>, guards: bool) -> &'static [KnownCallee<'static>] {
    type Known = ((*const u64, bool), &'static [KnownCallee<'static>]);
    thread_local! {
        static CALLEES: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
    }
    let key = (functions.cells.as_ptr(), guards);
    CALLEES.with_borrow_mut(|all| {
        if let Some((_, callees)) = all.iter().find(|(known, _)| *known == key) {
            return *callees;
        }
        let callee = |(function, cell): (usize, &u64)| KnownCallee {
            cell: *cell,
            function: function as u32,
            unit: unit().addr() as u64,
            source: Ok(LIBRARY.0[function].source(guards, functions)),
        };
        let callees: Vec<KnownCallee<'static>> = functions.cells.iter().enumerate().map(callee).collect();
        let callees: &'static [KnownCallee<'static>] = callees.leak();
        all.push((key, callees));
        callees
    })
}

/// The call cells, of which some are found only when the code runs.
pub(crate) fn half_of_links<M: Backend>() -> build::Linkage<'static> {
    let functions = links::<M>();
    build::Linkage { cells: &functions.cells[..functions.cells.len() / 2], ..functions }
}

/// The call cell of a program, which calls these functions and is followed by them. Compiled code has its address, so it stays.
pub(crate) fn program_cell<M: Backend>() -> &'static CallCell {
    Links::of::<M>().program
}

/// The host functions of compiled programs.
struct Answers;

impl HostFunctions for Answers {
    unsafe fn note(_: &CallCell, _: u32) {
        unreachable!("no code was compiled for backtraces");
    }

    unsafe fn resolve(unresolved: &mut UnresolvedCall) {
        assert_ne!(unresolved.cell().function(), PROGRAM, "a program is called when it has code for that");
        let args = unresolved.arguments().to_vec();
        let result = LIBRARY.invoke(unresolved.context.cast(), unresolved.cell().function(), &args);
        unresolved.end(match result {
            Ok(value) => Outcome { value, trap: 0 },
            Err(trap) => Outcome { value: 0, trap: trap.code() as u64 },
        });
    }

    unsafe fn refuse(_: &CallCell, _: *mut ()) -> u64 {
        Trap::StackOverflow.code() as u64
    }

    unsafe fn resume(cell: &CallCell, context: *mut (), frame: *mut u64, left: RawStatus) -> Outcome {
        // SAFETY: compiled code passes its own frame and context.
        unsafe { resume(cell, context, frame, left) }
    }
}
