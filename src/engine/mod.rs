//! The engine: functions of one bytecode, and the tiers that run them.
//!
//! In: verified bytecode and arguments. Out: results or an [`Error`]. A call takes a frame of 64-bit slots, puts
//! the arguments in the first ones and runs compiled code if there is some, else the interpreter. Compiled code
//! that leaves at a bytecode has all VM registers in the frame, so the interpreter goes on from there.
//!
//! Calls nest: a Rust function that a template calls may call the engine again, on either side. That is why
//! every method takes `&self`. An engine stays on its thread.

mod backend;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod background;
mod backtrace;
mod builder;
mod code;
mod compile;
mod fuel;
#[cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where nothing is compiled, nothing calls it")
)]
mod function;
mod interrupt;
mod links;
mod remove;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod resolve;
#[cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where nothing is compiled, nothing calls it")
)]
mod run;
mod show;
mod stack;
mod thread;
mod tiers;
mod value;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod worker;

pub use backtrace::{Backtrace, BacktraceFrame};
pub use builder::Builder;
pub use code::{Code, Promises};
pub use compile::Progress;
pub use function::FunctionId;
pub use interrupt::Interrupter;
pub use tiers::Tier;
pub use value::{Args, Slot};

use crate::inside::{Counts, Inside};
use crate::{Error, Unsupported};
use azulejo_core::ir::bytecode::Bytecode;
use backend::Backend;
use function::{Body, Function, Retired};
use links::Links;
use stack::FrameStack;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use tiers::Tiers;

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
    in_background: bool,
    /// Goes before the functions: their memory for code need not be made ready for others then.
    backend: RefCell<Backend>,
    /// By their numbers; nothing where one was removed.
    functions: RefCell<Vec<Option<Rc<Function<B>>>>>,
    /// What was removed and may still be looked at.
    removed: RefCell<Vec<Rc<Function<B>>>>,
    /// How many look at functions now.
    visits: Cell<usize>,
    stack: FrameStack,
    links: RefCell<Links>,
    /// Code that was thrown away and that calls between functions may still run.
    retired: RefCell<Vec<Retired>>,
    /// The handle that stops running code, and whether anybody may take one.
    remote: links::Remote,
    may_stop: Cell<bool>,
    /// What it runs on, if that is limited. Boxed, because compiled code has its address.
    tank: Option<Box<fuel::Tank>>,
    /// How many calls there were: the age of code is counted in them.
    calls: Cell<u64>,
    tiers: Tiers,
    /// Who sees what is compiled.
    inside: Inside,
    /// What was done so far.
    counts: Counts,
    /// Whether accesses may fault in what is compiled.
    guards: bool,
    /// Which functions failed last, if somebody wants to know.
    trace: Option<RefCell<backtrace::Failures>>,
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
        functions.push(Some(Rc::new(Function::defined(number, Arc::new(body), &self.tiers))));
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
        functions.push(Some(Rc::new(Function::declared(number, name, Box::new(maker), &self.tiers))));
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
        let _visit = self.visit();
        let function = self.function(function)?;
        self.traced(|| self.run(function, context, args, Tier::Optimizer)).map(R::from_slot)
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
        let _visit = self.visit();
        let function = self.function(function)?;
        self.traced(|| self.run(function, context, args, Tier::Interpreter)).map(R::from_slot)
    }

    /// A function, with its bytecode.
    #[inline(always)]
    fn function(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = self.known(id)?;
        match function.made() {
            Some(result) => result?,
            None => self.make(function)?,
        }
        Ok(function)
    }

    /// Has a function's bytecode made. Its maker may run others, and the function itself may be what runs next: its arguments
    /// are then still where those of other calls go.
    #[cold]
    #[inline(never)]
    fn make(&self, function: &Function<B>) -> Result<(), Error> {
        let saved = self.links.borrow().save_tail_call();
        let result = function.make();
        self.links.borrow().restore_tail_call(saved);
        result
    }

    /// A function, whose bytecode may not be made yet.
    #[inline(always)]
    fn known(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let functions = self.functions.borrow();
        let function = functions.get(id.0 as usize).ok_or(Error::UnknownFunction)?.as_ref();
        let function = function.map(Rc::as_ptr).ok_or(Error::Removed)?;
        // SAFETY: functions stay where they are, and as long as somebody looks at them: see `remove`.
        Ok(unsafe { &*function })
    }
}
