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
mod builder;
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

pub use builder::Builder;
pub use function::{Code, FunctionId};
pub use tiers::Tier;
pub use value::{Args, Slot};

use crate::inside::{Form, Inside, Listing, Watch};
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

/// Functions of the bytecode `B` and what is needed to run them.
///
/// The README's tutorial shows one at work.
///
/// ```
#[doc = include_str!("doubling.txt")]
/// let engine = Engine::<Op>::new();
/// let double = engine.define("double", code, 1)?;
/// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
/// # Ok::<(), Error>(())
/// ```
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new() -> Self {
        Builder::default().build()
    }

    /// Limits and choices first.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Interpreter).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Adds a function with `registers` VM registers, the first of which are its arguments.
    ///
    /// The code is verified here, once: operands within the frame, jumps within the code, no way off its end, a
    /// balanced operand stack. What is wrong is told with the bytecode's index.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    ///
    /// let error = engine.define("wrong", vec![Op::Return { a: 7.into() }], 1).unwrap_err();
    /// assert_eq!(error.to_string(), "bad bytecode: bytecode 0: operand 0 is register 7, but the function has 1");
    /// # Ok::<(), Error>(())
    /// ```
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.name(double)?, "double");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn name(&self, function: FunctionId) -> Result<String, Error> {
        Ok(self.known(function)?.name().to_string())
    }

    /// Compiles a function with the optimizer; calls that start from now on run the machine code.
    ///
    /// If the memory for code is full, other functions lose theirs: see [`Builder::code_bytes`].
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     engine.compile(double)?;
    ///     assert_eq!(engine.tier(double), Tier::Optimizer);
    /// }
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(&self, function: FunctionId) -> Result<(), Error> {
        self.compile_in(function, Tier::Optimizer)
    }

    /// Compiles a function for a tier now, whatever it has been through; for the interpreter there is nothing to do.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     engine.compile_in(double, Tier::Baseline)?;
    ///     assert_eq!(engine.tier(double), Tier::Baseline);
    /// }
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
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
                    let code = backend.baseline(&bytecode, links.functions(), &mut watch)?;
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
                    self.backend.borrow_mut().compile(&source, &mut watch)
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// engine.discard(double)?;
    /// assert_eq!(engine.tier(double), Tier::Interpreter);
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert!(!engine.is_compiled(double));
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert!(engine.is_compiled(double));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_compiled(&self, function: FunctionId) -> bool {
        self.tier(function) > Tier::Interpreter
    }

    /// The highest tier in which calls of a function start now.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 10).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.tier(double), Tier::Interpreter);
    /// for n in 0..100i64 {
    ///     engine.call::<_, i64>(double, &mut (), (n,))?;
    /// }
    /// # if azulejo::can_compile().is_ok() {
    /// assert_eq!(engine.tier(double), Tier::Optimizer);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tier(&self, function: FunctionId) -> Tier {
        match self.known(function) {
            Ok(function) if function.optimized().is_some() => Tier::Optimizer,
            Ok(function) if function.has_baseline() => Tier::Baseline,
            _ => Tier::Interpreter,
        }
    }

    /// How many bytes of machine code a function has in its highest tier; zero if it is only interpreted.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.code_len(double), 0);
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert!(engine.code_len(double) > 0);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn code_len(&self, function: FunctionId) -> usize {
        self.known(function).map_or(0, |function| match (function.optimized(), function.baseline()) {
            (Some(code), _) => code.bytes().len(),
            (None, Some(code)) => code.bytes().len(),
            (None, None) => 0,
        })
    }

    /// What becomes of a function in the optimizer, as text: its bytecode, the graph after each pass, the order of its nodes,
    /// the chosen tiles, where values are live, the registers that they get, and the machine code. All that [`Log`](crate::Log) writes.
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
        let subject = function.body().subject(Form::Optimizer(0));
        let mut watch = Watch::all(&subject);
        let links = self.links.borrow();
        let source = function.body().source(0, links.functions());
        self.backend.borrow_mut().compile(&source, &mut watch)?;
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.disassemble(double).unwrap_err(), Error::NotCompiled);
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// let listing = engine.disassemble(double)?.to_string();
    /// assert!(listing.contains("; 0: Double { dst: r0, a: r0 }"));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// let result: i64 = engine.call(double, &mut (), (21i64,))?;
    /// assert_eq!(result, 42);
    /// # Ok::<(), Error>(())
    /// ```
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
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// # }
    /// // The interpreter says what a program means, and compiled code does the same.
    /// let interpreted: i64 = engine.interpret(double, &mut (), (21i64,))?;
    /// assert_eq!(interpreted, engine.call(double, &mut (), (21i64,))?);
    /// # Ok::<(), Error>(())
    /// ```
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
