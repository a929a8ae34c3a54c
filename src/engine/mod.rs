//! The engine: functions of one bytecode, and the tiers that run them.
//!
//! In: verified bytecode and arguments. Out: results or an [`Error`]. A call takes a frame of 64-bit slots, puts
//! the arguments in the first ones and runs compiled code if there is some, else the interpreter. Compiled code
//! that leaves at a bytecode has all VM registers in the frame, so the interpreter goes on from there.
//!
//! Calls nest: a Rust function that a template calls may call the engine again, on either side. That is why
//! every method takes `&self`. An engine stays on its thread.

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod arrive;
mod backend;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod background;
#[cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where nothing is compiled, nothing calls it")
)]
mod function;
mod links;
#[cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where nothing is compiled, nothing calls it")
)]
mod run;
mod stack;
mod thread;
mod tiers;
mod value;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod worker;

pub use function::{Code, FunctionId};
pub use tiers::Tier;
pub use value::{Args, Slot};

use crate::inside::{Form, Inside, Limits, Listing, Log, Watch};
use crate::{Error, Unsupported};
use azulejo_core::ir::bytecode::Bytecode;
use backend::{Backend, BaselineCode, Compiled};
use function::{Body, Function, Retired};
use links::Links;
use stack::FrameStack;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use tiers::{ENDLESS, Tiers};

/// Whether this machine can run compiled code, and if not, why not.
///
/// Everything works either way; without a compiler it runs in the interpreter.
///
/// ```
/// match azulejo::can_compile() {
///     Ok(()) => println!("functions can be compiled here"),
///     Err(reason) => println!("everything is interpreted here: {reason}"),
/// }
/// ```
pub fn can_compile() -> Result<(), Unsupported> {
    backend::can_compile()
}

/// Whether faults in compiled code can become traps on this machine, as [`Builder::guards`] has it.
///
/// ```
/// // On Linux they can.
/// assert!(azulejo::can_guard() || !cfg!(all(target_os = "linux", target_arch = "x86_64")));
/// ```
pub fn can_guard() -> bool {
    backend::can_guard()
}

/// How an engine is set up.
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
    code_bytes: usize,
    machine: backend::Choice,
    tiers: Tiers,
    is_patient: bool,
    log: Option<Log>,
    limits: Option<Limits>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            stack_slots: 1 << 20,
            native_stack: 1 << 20,
            code_bytes: 64 << 20,
            machine: backend::Choice::default(),
            tiers: Tiers::default(),
            is_patient: false,
            log: None,
            limits: None,
        }
    }
}

impl Builder {
    /// How many VM registers all active calls may have together (a million unless said).
    pub fn stack_slots(mut self, slots: usize) -> Self {
        self.stack_slots = slots;
        self
    }

    /// How much of the thread's own stack nested calls may use, in bytes (1 MiB unless said). Where the thread has less, a
    /// call that would come near the end of its stack is refused too.
    pub fn native_stack(mut self, bytes: usize) -> Self {
        self.native_stack = bytes;
        self
    }

    /// How much compiled code there may be at once, in bytes (64 MiB unless said). When it is used up, the code of the
    /// functions that were called the longest time ago makes room for new code, and they are interpreted again.
    pub fn code_bytes(mut self, bytes: usize) -> Self {
        self.code_bytes = bytes;
        self
    }

    /// Has the result of every stage of the compiler verified, as debug builds do always. What fails is not compiled: the
    /// error is [`Error::Internal`], and the function is interpreted.
    pub fn checks(mut self, checks: bool) -> Self {
        self.machine.set_checks(checks);
        self
    }

    /// Tells debuggers of compiled functions, by the interface for that of GDB and LLDB: a backtrace goes through them and
    /// shows their names, and they can be given breakpoints. Each function has memory pages of its own then, and compiling one takes some
    /// microseconds more. Only on Linux and BSD.
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

    /// Has compiled functions keep the frame pointer, so that profilers and other tools that follow its chain get through
    /// them (`perf record --call-graph fp`). Costs one register, and three instructions a call.
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

    /// Tells `perf` what compiled functions are called: writes each one's name to `/tmp/perf-PID.map`, which it reads.
    /// Nobody removes that file. Each function has memory pages of its own then. See
    /// [`frame_pointers`](Self::frame_pointers).
    pub fn perf_map(mut self, perf_map: bool) -> Self {
        self.machine.set_perf_map(perf_map);
        self
    }

    /// Has compiled code leave out the comparisons of `(within …)`: what would be out of bounds must fault, by lying in memory that
    /// may not be touched, and is then the trap that the comparison would have been. See [`crate::memory::Reserved`] for such
    /// memory.
    ///
    /// Asks for a handler of the signals `SIGSEGV` and `SIGBUS`, which hands on all other faults to the one before it, and
    /// for a stack for signal handlers on threads that have none. Where there is no such handler
    /// ([`can_guard`]) compiled code compares. The interpreter always does.
    ///
    /// # Safety
    ///
    /// Templates say by `unsafe` that the addresses of their accesses are right. With this it is the addresses whose flag
    /// does *not* hold that must be right: each of them must fault, whatever operands a bytecode has.
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

    /// Runs functions in this tier and no other: they are compiled at their first call, and do not climb. What leaves
    /// compiled code is interpreted until code can take over; and so is everything where nothing can be compiled.
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

    /// Functions start in the interpreter and climb no higher than this tier by themselves.
    pub fn up_to(mut self, tier: Tier) -> Self {
        (self.tiers.lowest, self.tiers.highest) = (Tier::Interpreter, tier);
        self
    }

    /// After how many calls and times around loops a function climbs: from the interpreter to baseline code, and then
    /// from there to the optimizer's.
    pub fn thresholds(mut self, baseline: u32, optimizer: u32) -> Self {
        self.tiers.thresholds = [baseline, optimizer];
        self
    }

    /// Has the optimizer compile hot functions on a thread of its own. Running code never waits for it: it goes on in the
    /// baseline's code until the better one is there. What is compiled by hand is compiled at once, as ever.
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
        self.is_patient = background;
        self
    }

    /// Writes down what becomes of the functions that are compiled. Without it the environment decides: `JIT_LOG=build,emit`
    /// (or `all`) writes these stages to the standard error stream, `JIT_LOG_DIR` into files of that directory, `JIT_LOG_FN`
    /// only of functions whose names are like that (`*` and `?` as in a shell). See [`Log`].
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

    /// Limits what is compiled, by which a fault is found: what is beyond a limit is interpreted, or less optimized, and
    /// nobody is told. Without it the environment decides: `JIT_LIMIT=functions=12,rewrite=3`, and `JIT_LIMIT_REPORT`
    /// names a file to which each compilation is added. `cargo xtask bisect -- COMMAND` finds the function and the step that
    /// make a command fail. See [`Limits`].
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

    /// Uses only these of the CPU's features (by name, such as `bmi2`); names the CPU lacks are left out.
    pub fn only_features(mut self, names: &[&str]) -> Self {
        self.machine.only_features(names);
        self
    }

    /// Compiles with a set of tiles of one's own, made with `tileset!`; a bytecode with operators of `operators!`
    /// needs one that knows them.
    #[cfg(target_arch = "x86_64")]
    pub fn tiles(mut self, set: &'static crate::x64::Set) -> Self {
        self.machine.set_tiles(set);
        self
    }

    /// Applies these rewrite rules instead of [`crate::rules::MATCHERS`]; put those in front of one's own.
    pub fn rules(mut self, rules: &'static [crate::rules::Matcher]) -> Self {
        self.machine.set_rules(rules);
        self
    }

    /// Makes the engine.
    pub fn build<B: Bytecode>(self) -> Engine<B> {
        Engine {
            #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
            worker: RefCell::new(None),
            #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
            is_patient: self.is_patient,
            functions: RefCell::default(),
            guards: self.machine.guards(),
            backend: RefCell::new(Backend::new(self.code_bytes, self.machine)),
            stack: FrameStack::new(self.stack_slots, self.native_stack),
            links: RefCell::new(links::links::<B>()),
            retired: RefCell::default(),
            calls: Cell::new(0),
            tiers: self.tiers,
            inside: Inside::new(self.log, self.limits),
        }
    }
}

/// Functions of the bytecode `B` and what is needed to run them.
///
/// The README's tutorial shows one at work.
pub struct Engine<B: Bytecode> {
    /// Goes first: it ends before what it looks at.
    #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
    worker: RefCell<Option<worker::Worker<B>>>,
    /// Whether hot functions are compiled on a thread of their own.
    #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
    is_patient: bool,
    functions: RefCell<Vec<Rc<Function<B>>>>,
    backend: RefCell<Backend>,
    stack: FrameStack,
    links: RefCell<Links>,
    /// Code that was thrown away and that calls between functions may still run.
    retired: RefCell<Vec<Retired>>,
    /// How many calls there were: the age of code is counted in them.
    calls: Cell<u64>,
    tiers: Tiers,
    /// Who sees what is compiled.
    inside: Inside,
    /// Whether accesses may fault in what is compiled.
    guards: bool,
}

impl<B: Bytecode> Default for Engine<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Bytecode> fmt::Debug for Engine<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("functions", &self.functions.borrow().len()).finish_non_exhaustive()
    }
}

impl<B: Bytecode> Engine<B> {
    /// An engine with the usual limits.
    pub fn new() -> Self {
        Builder::default().build()
    }

    /// Limits and choices first.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Adds a function with `registers` VM registers, the first of which are its arguments.
    ///
    /// The code is verified here, once: operands within the frame, jumps within the code, no way off its end, a
    /// balanced operand stack. What is wrong is told with the bytecode's index.
    pub fn define(
        &self,
        name: impl Into<String>,
        code: impl Into<Code<B>>,
        registers: u32,
    ) -> Result<FunctionId, Error> {
        let mut functions = self.functions.borrow_mut();
        let number = functions.len() as u32;
        let body = Body::verified(name.into().into(), code.into(), registers, self.guards)?;
        functions.push(Rc::new(Function::of(number, body, &self.tiers)));
        self.links.borrow_mut().add();
        Ok(FunctionId(number))
    }

    /// Adds a function whose bytecode is made when it is first called or compiled: `make` gives it, and how many VM
    /// registers it has. A large program starts at once so, and what never runs is never translated.
    ///
    /// If `make` gives nothing, whoever asks for the function is told [`Error::NotMade`], now and later; if the code is
    /// wrong, what is wrong with it. In a call from bytecode either is a [`Trap::BadCall`](crate::Trap::BadCall).
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
    /// # template! {
    /// #     Op::Double => (add $a $a)
    /// #     Op::Return => (return $a)
    /// # }
    /// let engine = Engine::<Op>::new();
    /// let source = "double";
    /// let function = engine.declare("double", move || {
    ///     println!("translating {source}");
    ///     let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    ///     Some((code.into(), 1))
    /// });
    /// assert_eq!(engine.call::<_, i64>(function, &mut (), (21i64,))?, 42);
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn declare(
        &self,
        name: impl Into<String>,
        make: impl FnOnce() -> Option<(Code<B>, u32)> + 'static,
    ) -> FunctionId {
        let mut functions = self.functions.borrow_mut();
        let number = functions.len() as u32;
        let (name, guards): (Arc<str>, bool) = (name.into().into(), self.guards);
        let named = name.clone();
        let maker = move || {
            let (code, registers) = make().ok_or(Error::NotMade)?;
            Body::verified(named, code, registers, guards)
        };
        functions.push(Rc::new(Function::declared(number, name, Box::new(maker), &self.tiers)));
        self.links.borrow_mut().add();
        FunctionId(number)
    }

    /// What a function was called when it was defined.
    pub fn name(&self, function: FunctionId) -> Result<String, Error> {
        Ok(self.known(function)?.name().to_string())
    }

    /// Compiles a function with the optimizer; calls that start from now on run the machine code.
    ///
    /// If the memory for code is full, other functions lose theirs: see [`Builder::code_bytes`].
    pub fn compile(&self, function: FunctionId) -> Result<(), Error> {
        self.compile_in(function, Tier::Optimizer)
    }

    /// Compiles a function for a tier now, whatever it has been through; for the interpreter there is nothing to do.
    pub fn compile_in(&self, function: FunctionId, tier: Tier) -> Result<(), Error> {
        let function = self.function(function)?;
        function.called(self.calls.get());
        match self.compile_for(function, tier, 0) {
            // A program that looks for a fault is to go on as it would have.
            Err(Error::Limited) => Ok(()),
            result => result,
        }
    }

    /// Compiles a function for going on at a bytecode, unless that has been done.
    fn compile_for(&self, function: &Function<B>, tier: Tier, at: u32) -> Result<(), Error> {
        match tier {
            Tier::Baseline if !function.has_baseline() => {
                let code = self.making_room(|| {
                    let bytecode = function.bytecode(self.counts());
                    let subject = function.body().subject(Form::Baseline);
                    let mut watch = self.inside.watch(&subject)?;
                    let (mut backend, links) = (self.backend.borrow_mut(), self.links.borrow());
                    let code = backend.baseline(function.name(), &bytecode, links.functions(), &mut watch)?;
                    if let Some(trace) = watch.trace() {
                        trace.baseline(code.bytes(), code.entry().addr() as u64, &positions(&code, function));
                    }
                    Ok(code)
                })?;
                function.set_baseline(code);
            }
            Tier::Optimizer if function.code_at(at).is_none() => {
                let code = self.making_room(|| {
                    let links = self.links.borrow();
                    let source = function.body().source(at, links.functions());
                    let subject = function.body().subject(Form::Optimizer(at));
                    let mut watch = self.inside.watch(&subject)?;
                    self.backend.borrow_mut().compile(function.name(), &source, &mut watch)
                })?;
                self.go_on_in(function, at, code);
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes something that takes memory for code; again, as long as that is full and code can be thrown away.
    fn making_room<T>(&self, make: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        loop {
            match make() {
                Err(Error::OutOfCodeMemory) if self.evict() => {}
                result => return result,
            }
        }
    }

    /// Has a function go on at a bytecode in this code from now on.
    fn go_on_in(&self, function: &Function<B>, at: u32, code: Compiled) {
        function.set_code_at(at, code);
        if at == 0 && function.called_code().is_none() {
            // If other functions call it, then by a door to the baseline's code.
            self.close(function);
        }
    }

    /// Throws the machine code of a function away; calls that start from now on are interpreted. Its memory is free for
    /// other functions once the calls that run it have ended.
    pub fn discard(&self, function: FunctionId) -> Result<(), Error> {
        self.discard_code(self.known(function)?);
        self.free_retired();
        Ok(())
    }

    fn discard_code(&self, function: &Function<B>) {
        self.close(function);
        function.discard(&self.tiers);
    }

    /// Has calls from other functions come to the engine, until there is a door again.
    fn close(&self, function: &Function<B>) {
        if let Some(retired) = function.retire() {
            self.links.borrow().close(function.number());
            self.retired.borrow_mut().push(retired);
        }
    }

    /// Frees the code that was thrown away and to which no call returns any more.
    fn free_retired(&self) {
        let mut retired = self.retired.borrow_mut();
        if retired.is_empty() {
            return;
        }
        if !self.stack.is_in_use() {
            retired.clear();
        } else if let Some(words) = self.stack.words() {
            retired.retain(|code| code.is_among(&words));
        }
    }

    /// Whether baseline code counts calls and loops.
    fn counts(&self) -> bool {
        self.tiers.budget(Tier::Baseline) != ENDLESS
    }

    /// Throws away an eighth of the code that no call runs, the longest unused first; whether there was any.
    fn evict(&self) -> bool {
        let functions = self.functions.borrow();
        let mut idle: Vec<&Rc<Function<B>>> =
            functions.iter().filter(|function| function.has_idle_code()).collect();
        idle.sort_by_key(|function| function.last_call());
        let count = idle.len().div_ceil(8);
        idle[..count].iter().for_each(|function| self.discard_code(function));
        self.free_retired();
        count > 0
    }

    /// Whether a function has machine code.
    pub fn is_compiled(&self, function: FunctionId) -> bool {
        self.tier(function) > Tier::Interpreter
    }

    /// The highest tier in which calls of a function start now.
    pub fn tier(&self, function: FunctionId) -> Tier {
        match self.known(function) {
            Ok(function) if function.optimized().is_some() => Tier::Optimizer,
            Ok(function) if function.has_baseline() => Tier::Baseline,
            _ => Tier::Interpreter,
        }
    }

    /// How many bytes of machine code a function has in its highest tier; zero if it is only interpreted.
    pub fn code_len(&self, function: FunctionId) -> usize {
        self.known(function).map_or(0, |function| match (function.optimized(), function.baseline()) {
            (Some(code), _) => code.bytes().len(),
            (None, Some(code)) => code.bytes().len(),
            (None, None) => 0,
        })
    }

    /// What becomes of a function in the optimizer, as text: its bytecode, the graph after each pass, the order of its nodes,
    /// the chosen tiles, where values are live, the registers that they get, and the machine code. All that [`Log`] writes.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
    /// # template! {
    /// #     Op::Double => (add $a $a)
    /// #     Op::Return => (return $a)
    /// # }
    /// let engine = Engine::<Op>::new();
    /// let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let function = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     let stages = engine.stages(function)?;
    ///     let names: Vec<&str> = stages.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    ///     assert_eq!(names.first(), Some(&"bytecode"));
    ///     assert_eq!(names.last(), Some(&"emit"));
    ///     assert!(stages.contains("Double { dst: r0, a: r0 }"));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stages(&self, function: FunctionId) -> Result<String, Error> {
        let function = self.function(function)?;
        let mut watch = Watch::all(&function.body().subject(Form::Optimizer(0)));
        let links = self.links.borrow();
        let source = function.body().source(0, links.functions());
        self.backend.borrow_mut().compile(function.name(), &source, &mut watch)?;
        Ok(watch.into_text())
    }

    /// A page for any browser that shows what becomes of a function in the optimizer: see [`explore`](crate::explore).
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
    /// # template! {
    /// #     Op::Double => (add $a $a)
    /// #     Op::Return => (return $a)
    /// # }
    /// # let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let engine = Engine::<Op>::new();
    /// let function = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// let page = engine.explore(function)?;
    /// # let folder = std::env::temp_dir().join(format!("azulejo-{}.html", std::process::id()));
    /// # let write = |_: &str, page| std::fs::write(&folder, page);
    /// write("double.html", page)?;
    /// # std::fs::remove_file(&folder)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explore(&self, function: FunctionId) -> Result<String, Error> {
        Ok(crate::explore::page(self.function(function)?.name(), &self.stages(function)?))
    }

    /// A function's machine code in its highest tier as text, each piece with the bytecode it came from.
    pub fn disassemble(&self, function: FunctionId) -> Result<Listing, Error> {
        let function = self.function(function)?;
        let bytecode: Vec<String> = function.code().iter().map(|op| format!("{op:?}")).collect();
        let (entry, bytes, map) = match (function.optimized(), function.baseline()) {
            (Some(code), _) => (code.entry(), code.bytes().to_vec(), code.map().to_vec()),
            (None, Some(code)) => {
                let map = positions(&code, function).into_iter().zip(0..).collect();
                (code.entry(), code.bytes().to_vec(), map)
            }
            (None, None) => return Err(Error::NotCompiled),
        };
        Ok(Listing { address: entry.addr(), bytes, map, bytecode })
    }

    /// Runs a function and gives its result.
    ///
    /// The arguments become the first VM registers, the others are zero. Running compiled or interpreted gives
    /// the same result.
    pub fn call<A: Args, R: Slot>(
        &self,
        function: FunctionId,
        context: &mut B::Context,
        args: A,
    ) -> Result<R, Error> {
        let function = self.function(function)?;
        self.run(function, context, args, Tier::Optimizer).map(R::from_slot)
    }

    /// Runs a function in the interpreter, whether or not it has machine code.
    pub fn interpret<A: Args, R: Slot>(
        &self,
        function: FunctionId,
        context: &mut B::Context,
        args: A,
    ) -> Result<R, Error> {
        let function = self.function(function)?;
        self.run(function, context, args, Tier::Interpreter).map(R::from_slot)
    }

    /// A function, with its bytecode.
    #[inline(always)]
    fn function(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = self.known(id)?;
        function.make()?;
        Ok(function)
    }

    /// A function, whose bytecode may not be made yet.
    #[inline(always)]
    fn known(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = self.functions.borrow().get(id.0 as usize).map(Rc::as_ptr);
        // SAFETY: functions stay as long as the engine, which is borrowed, and where they are.
        function.map(|function| unsafe { &*function }).ok_or(Error::UnknownFunction)
    }
}

/// Where the code of each bytecode starts.
fn positions<B: Bytecode>(code: &BaselineCode, function: &Function<B>) -> Vec<u32> {
    (0..function.code().len() as u32).map(|at| code.position(at)).collect()
}
