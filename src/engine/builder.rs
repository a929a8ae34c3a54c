//! The configuration of an engine.
//!
//! In: limits and choices, one after another. Out: an [`Engine`]. Every choice has a default.

use super::Engine;
use super::background::Background;
use super::frame_stacks::FrameStacks;
use super::frames::ShownList;
use super::fuel::Tank;
use super::inlining::Inlining;
use super::interpreter::{Interpreting, patience};
use super::laws::try_laws;
use super::native::{self, Backend};
use super::resolve::links;
use super::stack::FrameStack;
use super::stacks::StackPool;
use super::tiers::{Tier, Tiers};
use crate::inside::{Counts, Inside, Limits, Log};
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::{Cell, RefCell};
use std::path::Path;

/// The configuration of an engine. Made by [`Engine::builder`].
///
/// ```
/// # use azulejo::prelude::*;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # #[bytecode(context = ())]
/// # enum Op { Return { a: In<i64> } }
/// # template! { Op::Return => (return $a) }
/// let engine: Engine<Op> = Engine::<Op>::builder().stack_slots(1 << 16).build();
/// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
/// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    stack_slots: usize,
    native_stack: usize,
    /// In bytes, and in slots.
    pub(super) fiber_stack: (usize, usize),
    pub(super) registers_only_read: bool,
    code_bytes: usize,
    pub(super) machine: native::Choice,
    tiers: Tiers,
    in_background: bool,
    log: Option<Log>,
    limits: Option<Limits>,
    times: bool,
    pub(super) fuel: Option<u64>,
    backtraces: bool,
    inlining: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            stack_slots: 1 << 20,
            native_stack: 1 << 20,
            fiber_stack: super::fiber::STACK,
            registers_only_read: false,
            code_bytes: 64 << 20,
            machine: native::Choice::default(),
            tiers: Tiers::default(),
            in_background: false,
            log: None,
            limits: None,
            times: false,
            fuel: None,
            backtraces: false,
            inlining: true,
        }
    }
}

impl Builder {
    /// Sets how many VM registers all active calls may have together (by default about a million). If the system has no
    /// memory for this number, every call that needs registers fails with
    /// [`Error::OutOfStackMemory`](crate::Error::OutOfStackMemory).
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().stack_slots(1000).build();
    /// let small = engine.define("small", code.clone(), 1)?;
    /// assert_eq!(engine.call(small, &mut (), (21i64,)), Ok(42i64));
    /// let large = engine.define("large", code, 2000)?;
    /// assert_eq!(engine.call::<_, i64>(large, &mut (), (21i64,)), Err(Error::StackOverflow));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stack_slots(mut self, slots: usize) -> Self {
        self.stack_slots = slots;
        self
    }

    /// Sets how much of the thread's own stack nested calls may use, in bytes (by default 1 MiB). If the thread has less, a
    /// call that comes near the end of its stack is refused, too: at least 64 KiB are left for the functions that templates
    /// call, and 256 KiB on a stack of 2 MiB or more. A function that needs more must check by itself that there is room.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Call   => (invoke $function (arglist $a) i64)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// // Function 0 calls itself for ever.
    /// let code = vec![Op::Call { dst: 0.into(), function: Imm(0), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let engine: Engine<Op> = Engine::<Op>::builder().native_stack(100_000).build();
    /// let endless = engine.define("endless", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(endless, &mut (), (7i64,)), Err(Error::StackOverflow));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn native_stack(mut self, bytes: usize) -> Self {
        self.native_stack = bytes;
        self
    }

    /// Sets how much memory compiled code may take, in bytes (by default 64 MiB). When it is used up, the engine discards the
    /// code of the functions that were called least recently, to make room for new code; they are interpreted again.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().code_bytes(4096).build();
    /// let define = |number| engine.define(format!("double_{number}"), code.clone(), 1);
    /// let functions: Vec<FunctionId> = (0..1000).map(define).collect::<Result<_, _>>()?;
    /// # if azulejo::can_compile().is_ok() {
    /// for function in &functions {
    ///     engine.compile(*function)?;
    /// }
    /// // The oldest ones had to make room, and are interpreted.
    /// assert!(!engine.is_compiled(functions[0]) && engine.is_compiled(functions[999]));
    /// # }
    /// assert_eq!(engine.call::<_, i64>(functions[0], &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn code_bytes(mut self, bytes: usize) -> Self {
        self.code_bytes = bytes;
        self
    }

    /// Verifies the result of every stage of the compiler, as debug builds always do. If a check fails, the compilation fails
    /// with [`Error::Internal`](crate::Error::Internal), and the function is interpreted.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().checks(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn checks(mut self, checks: bool) -> Self {
        self.machine.set_checks(checks);
        self
    }

    /// Registers compiled functions with debuggers, by the JIT interface of GDB and LLDB: backtraces go through them and show
    /// their names, and breakpoints can be set in them. Each function then has memory pages of its own, and compiling one
    /// takes some microseconds longer. Only on Linux and BSD. (While GDB is stopped in Rust code, `disassemble NAME` needs
    /// `set language c` first, because the names are not those of Rust functions.)
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let engine: Engine<Op> = Engine::<Op>::builder().debugger(true).build();
    /// // `break count_words` and `backtrace` know this one once it is compiled.
    /// let function = engine.define("count_words", vec![Op::Return { a: 0.into() }], 1)?;
    /// # if azulejo::can_compile().is_ok() { engine.compile(function)? }
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn debugger(mut self, debugger: bool) -> Self {
        self.machine.set_debugger(debugger);
        self
    }

    /// Makes compiled functions keep the frame pointer, so that profilers and other tools can follow its chain through them
    /// (`perf record --call-graph fp`). This costs one register, and three instructions per call.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let engine: Engine<Op> = Engine::<Op>::builder().frame_pointers(true).perf_map(true).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # if azulejo::can_compile().is_ok() { engine.compile(function)? }
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn frame_pointers(mut self, frame_pointers: bool) -> Self {
        self.machine.set_frame_pointers(frame_pointers);
        self
    }

    /// Writes the name and address of each compiled function to `/tmp/perf-PID.map`, from which `perf` reads them. The file
    /// is never removed. Each function then has memory pages of its own. See [`frame_pointers`](Self::frame_pointers).
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().perf_map(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # if cfg!(target_os = "linux") {
    /// let map = format!("/tmp/perf-{}.map", std::process::id());
    /// assert!(std::fs::read_to_string(&map)?.contains("double"));
    /// # std::fs::remove_file(map)?;
    /// # }
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn perf_map(mut self, perf_map: bool) -> Self {
        self.machine.set_perf_map(perf_map);
        self
    }

    /// Makes compiled code leave out the comparisons of `(within …)`: an access that is out of bounds must fault, because its
    /// address lies in inaccessible memory, and the fault becomes the trap that the comparison would have raised. See
    /// [`crate::memory::Reserved`] for memory of this kind.
    ///
    /// This installs a handler of the signals `SIGSEGV` and `SIGBUS`, which passes all other faults on to the previous handler,
    /// and a stack for signal handlers on threads that have none. Where there can be no handler
    /// ([`can_guard`](crate::can_guard)), compiled code compares. The interpreter always compares.
    ///
    /// # Safety
    ///
    /// By `unsafe`, a template promises that the addresses of its accesses are valid when the flag of `(within …)` holds. With
    /// guards the caller promises the rest: each address whose flag does *not* hold must fault, whatever operands a bytecode
    /// has.
    ///
    /// ```
    /// use azulejo::memory::Reserved;
    /// use azulejo::prelude::*;
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = Vm)]
    /// enum Op {
    ///     Load { dst: Out<u8>, at: In<u32> },
    ///     Return { a: In<u8> },
    /// }
    /// struct Vm {
    ///     start: *mut u8,
    ///     size: u64,
    /// }
    /// template! {
    ///     Op::Load => unsafe
    ///         (within (ult (ucast $at u64) (load (addr (tc) (&offset_of Vm, size)) u64)) 1
    ///             (load (idx (load pure (addr (tc) (&offset_of Vm, start)) ptr) (ucast $at u64) 1) u8))
    ///     Op::Return => (return $a)
    /// }
    ///
    /// // Every address that 32 bits can name lies in the reserved memory; the first 64 KiB can be read.
    /// # if azulejo::can_guard() {
    /// let memory = Reserved::new(1 << 16, 1 << 32)?;
    /// // SAFETY: what lies behind the size faults.
    /// let engine: Engine<Op> = unsafe { Engine::<Op>::builder().guards(true) }.build();
    /// let code = vec![Op::Load { dst: 0.into(), at: 0.into() }, Op::Return { a: 0.into() }];
    /// let function = engine.define("load", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     engine.compile(function)?;
    /// }
    /// let mut vm = Vm { start: memory.start(), size: memory.accessible() as u64 };
    /// assert_eq!(engine.call::<_, u8>(function, &mut vm, (0xffffu32,))?, 0);
    /// let past: Result<u8, Error> = engine.call(function, &mut vm, (0x10000u32,));
    /// assert_eq!(past, Err(Error::Trap { trap: Trap::User(1), at: 0 }));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn guards(mut self, guards: bool) -> Self {
        self.machine.set_guards(guards);
        self
    }

    /// Runs functions in this tier and no other: they are compiled at their first call, and do not tier up. After an exit from
    /// compiled code the interpreter runs until compiled code can take over. Where nothing can be compiled, every function is
    /// interpreted. The optimizer alone knows nothing of what sites learn: at the first call they have no cases.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Baseline).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn only(mut self, tier: Tier) -> Self {
        (self.tiers.lowest, self.tiers.highest) = (tier, tier);
        self
    }

    /// Starts functions in the interpreter, and lets them tier up to this tier at most.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().up_to(Tier::Baseline).build();
    /// let double = engine.define("double", code, 1)?;
    /// for n in 0..10_000i64 {
    ///     engine.call::<_, i64>(double, &mut (), (n,))?;
    /// }
    /// # if azulejo::can_compile().is_ok() {
    /// assert_eq!(engine.tier(double), Tier::Baseline);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn up_to(mut self, tier: Tier) -> Self {
        (self.tiers.lowest, self.tiers.highest) = (Tier::Interpreter, tier);
        self
    }

    /// Sets after how many calls and loop iterations a function tiers up: first from the interpreter to baseline code, and
    /// then from baseline code to the optimizer's.
    ///
    /// Without this it is 60, and then 6000; or more, if these do not take about as long as the compiler is expected to take for the function: for baseline
    /// code that is the time for stencils that were not needed before.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().thresholds(5, 1000).build();
    /// let double = engine.define("double", code, 1)?;
    /// for n in 0..10i64 {
    ///     engine.call::<_, i64>(double, &mut (), (n,))?;
    /// }
    /// # if azulejo::can_compile().is_ok() {
    /// assert_eq!(engine.tier(double), Tier::Baseline);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn thresholds(mut self, baseline: u32, optimizer: u32) -> Self {
        (self.tiers.thresholds, self.tiers.by_work) = ([baseline, optimizer], false);
        self
    }

    /// Compiles hot functions with the optimizer on a separate thread. Running code never waits for it: it stays in baseline code
    /// until the optimizer's code is ready. [`Engine::compile`] still compiles at once, on the calling thread.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let engine: Engine<Op> = Engine::<Op>::builder().background(true).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn background(mut self, background: bool) -> Self {
        self.in_background = background;
        self
    }

    /// Writes a dump to this directory that tells `perf` the names of compiled functions and the bytecode of each instruction.
    /// Record with `perf record --clockid mono` and run `perf inject --jit`; then `perf annotate` shows each function's
    /// bytecode as its source. The files are never removed. Each function then has memory pages of its own. Only on Linux.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let directory = std::env::temp_dir().join("azulejo-dump");
    /// let engine: Engine<Op> = Engine::<Op>::builder().jitdump(&directory).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # if azulejo::can_compile().is_ok() { engine.compile(function)? }
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # std::fs::remove_dir_all(&directory).ok();
    /// # Ok::<(), Error>(())
    /// ```
    pub fn jitdump(mut self, directory: impl AsRef<Path>) -> Self {
        self.machine.set_dump(directory.as_ref());
        self
    }

    /// Measures the time of each compilation and of each pass, for [`Engine::stats`]. Reading the clock takes about a quarter of
    /// a microsecond for each function that the optimizer compiles.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().times(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert!(!engine.stats().optimizer.time.is_zero());
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn times(mut self, times: bool) -> Self {
        self.times = times;
        self
    }

    /// Logs the stages of each function that is compiled. Without a log set here the environment decides: `JIT_LOG=build,emit`
    /// (or `all`) selects the stages and writes them to the standard error stream, `JIT_LOG_DIR` writes files in a directory
    /// instead, and `JIT_LOG_FN` selects functions by a pattern of their names (`*` and `?` as in a shell). See [`Log`].
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # use azulejo::Log;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// let log = Log::all().functions("parse_*");
    /// let engine: Engine<Op> = Engine::<Op>::builder().log(log).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn log(mut self, log: Log) -> Self {
        self.log = Some(log);
        self
    }

    /// Limits what is compiled, to locate a fault of the compiler: a function beyond a limit is silently interpreted, or
    /// optimized less. Without limits set here the environment decides: `JIT_LIMIT=functions=12,rewrite=3` sets limits, and
    /// `JIT_LIMIT_REPORT` names a file to which a line is added for each compilation. `cargo xtask bisect -- COMMAND` finds
    /// the function and the step that make a command fail. See [`Limits`].
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # use azulejo::Limits;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Return { a: In<i64> } }
    /// # template! { Op::Return => (return $a) }
    /// // No value is rewritten.
    /// let engine: Engine<Op> = Engine::<Op>::builder().limits(Limits::of("rewrite=0")?).build();
    /// # let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    /// # assert_eq!(engine.call::<_, i64>(function, &mut (), (7i64,))?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Uses only these of the CPU's features (by name, such as `bmi2`). Features that the CPU lacks are ignored.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// // The same code on every x86-64 machine.
    /// let engine: Engine<Op> = Engine::<Op>::builder().only_features(&[]).build();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// # assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn only_features(mut self, names: &[&str]) -> Self {
        self.machine.only_features(names);
        self
    }

    /// Compiles with a custom set of tiles, made with `tileset!`. A bytecode with operators of `operators!` needs a set that
    /// covers them.
    ///
    /// # Safety
    ///
    /// The emitter of each tile writes machine code, which is then run. This code must compute what the tile's pattern means
    /// and nothing else: it must take its operands from where the tile declares them, and change nothing but its result, its
    /// temporaries and its clobbers.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// azulejo::tileset! {
    ///     pub static TILES: extends azulejo::x64::X64;
    /// }
    ///
    /// # if azulejo::can_compile().is_ok() {
    /// // SAFETY: these are azulejo's own tiles.
    /// let engine: Engine<Op> = unsafe { Engine::<Op>::builder().tiles(&TILES) }.build();
    /// let double = engine.define("double", code, 1)?;
    /// engine.compile(double)?;
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn tiles(mut self, set: &'static crate::x64::Set) -> Self {
        self.machine.set_tiles(set);
        self
    }

    /// Applies these rewrite rules instead of [`crate::rules::MATCHERS`]. To add rules to the built-in ones, pass those first,
    /// and your own after them.
    ///
    /// # Safety
    ///
    /// Each rule must hold for every value of every type that it matches, as the documentation of [`crate::rules`] says:
    /// compiled code relies on the rewritten conditions of checks, and on rewritten addresses.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// // No rules at all: slower code, which does the same.
    /// // SAFETY: there is no rule that could be wrong.
    /// let engine: Engine<Op> = unsafe { Engine::<Op>::builder().rules(&[]) }.build();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub unsafe fn rules(mut self, rules: &'static [crate::rules::Matcher]) -> Self {
        self.machine.set_rules(rules);
        self
    }

    /// Records which calls led to each failure, for [`Engine::backtrace`]. Only calls that fail become slower; compiled code
    /// becomes a little larger.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().backtraces(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call(double, &mut (), (21i64,)), Ok(42i64));
    /// // Nothing has failed.
    /// assert!(engine.backtrace().frames.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn backtraces(mut self, backtraces: bool) -> Self {
        self.backtraces = backtraces;
        self.machine.set_backtraces(backtraces);
        self
    }

    /// Whether the optimizer puts small functions into the code of those that call them, which it does by default.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().inlining(false).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call(double, &mut (), (21i64,)), Ok(42i64));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn inlining(mut self, inlining: bool) -> Self {
        self.inlining = inlining;
        self
    }

    /// Makes the engine.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().checks(true).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn build<B: Bytecode>(mut self) -> Engine<B> {
        if cfg!(debug_assertions) {
            try_laws::<B>();
        }
        let inside = Inside::new(self.log, self.limits, self.times);
        // Limits count steps. The number of steps spent on stencils must not depend on what else the process has compiled.
        self.machine.set_own_stencils(inside.has_limits());
        let mut links = links::<B>();
        let tank = self.fuel.map(|fuel| Box::new(Tank::new(fuel)));
        tank.iter().for_each(|tank| links.set_fuel(tank.word()));
        links.set_only_read(self.registers_only_read);
        Engine {
            background: Background::new(self.in_background),
            functions: RefCell::default(),
            vacant: RefCell::default(),
            removed: RefCell::default(),
            visits: Cell::new(0),
            guards: self.machine.guards(),
            trace: self.backtraces.then(RefCell::default),
            packer: Default::default(),
            overflow: Default::default(),
            backend: RefCell::new(Backend::new(self.code_bytes, self.machine)),
            starts: RefCell::default(),
            stack: FrameStacks::new(FrameStack::new(self.stack_slots, self.native_stack)),
            fiber_stacks: StackPool::new(self.fiber_stack),
            remote: links.remote(),
            may_stop: Cell::new(false),
            tank,
            links: RefCell::new(links),
            retired: RefCell::default(),
            many_retired: Cell::new(0),
            calls: Cell::new(0),
            tiers: self.tiers,
            inlining: Inlining::new(self.inlining),
            interpreter: Cell::new(Interpreting::Unknown),
            patience: Cell::new(patience(&self.tiers)),
            inside,
            counts: Counts::new(B::OPCODES.len()),
            shown: ShownList::of::<B>(),
        }
    }
}
