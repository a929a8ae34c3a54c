//! The engine: functions of one bytecode, and the tiers that run them.
//!
//! In: bytecode and arguments. Out: results or an [`Error`]. A call takes a frame of 64-bit slots, puts the
//! arguments in the first slots, and runs compiled code if the function has any, else the interpreter. When compiled
//! code exits at a bytecode, all VM registers are in the frame, so the interpreter can resume there.
//!
//! Calls nest: a Rust function that a template calls may call the engine again, from compiled code as well as from the
//! interpreter. This is why every method takes `&self`. An engine stays on its thread.

mod backtrace;
mod builder;
mod call_back;
mod code;
mod compile;
mod fiber;
mod frame_stacks;
mod frames;
mod fuel;
mod function;
mod inlined;
mod inlining;
mod interpreter;
mod interrupt;
mod laws;
mod overflow;
mod remove;
mod run;
mod running;
mod show;
mod sites;
mod stack;
mod surplus;
mod thread;
mod tier_up;
mod tiers;
mod value;

// The one place that asks whether there is a switch between stacks.
#[cfg_attr(
    not(any(
        all(unix, any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
        all(windows, target_arch = "x86_64")
    )),
    path = "interpreted/stacks.rs"
)]
mod stacks;

// The one place that asks whether there is a machine to compile for.
#[cfg_attr(not(all(target_arch = "x86_64", any(unix, windows))), path = "interpreted/background.rs")]
mod background;
#[cfg_attr(not(all(target_arch = "x86_64", any(unix, windows))), path = "interpreted/native.rs")]
mod native;
#[cfg_attr(not(all(target_arch = "x86_64", any(unix, windows))), path = "interpreted/resolve.rs")]
mod resolve;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod worker;

pub use backtrace::{Backtrace, BacktraceFrame};
pub use builder::Builder;
pub use code::{Code, Promises, Surplus};
pub use compile::Progress;
pub use fiber::{Fiber, Resumed, can_switch};
pub use frames::{Frame, Frames};
pub use function::FunctionId;
pub use interrupt::Interrupter;
pub use running::suspend;
pub use stack::stack_left;
pub use tiers::Tier;
pub use value::{Args, Slot};

use crate::inside::{Counts, Inside};
use crate::{Error, Unsupported};
use azulejo_core::ir::bytecode::{Bytecode, Callable};
use azulejo_core::pass::build::StartScratch;
use background::Background;
use frame_stacks::FrameStacks;
use function::{Body, Function, Retired};
use native::{Backend, Links};
use stacks::StackPool;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use tiers::Tiers;

/// Checks whether this machine can run compiled code. The error says why it cannot.
///
/// Engines work either way: where nothing can be compiled, every function runs in the interpreter.
///
/// ```
/// match azulejo::can_compile() {
///     Ok(()) => println!("functions can be compiled here"),
///     Err(reason) => println!("everything is interpreted here: {reason}"),
/// }
/// ```
pub fn can_compile() -> Result<(), Unsupported> {
    native::can_compile()
}

/// Whether faults in compiled code can become traps on this machine, as [`Builder::guards`] requires.
///
/// ```
/// // On Linux they can.
/// assert!(azulejo::can_guard() || !cfg!(all(target_os = "linux", target_arch = "x86_64")));
/// ```
pub fn can_guard() -> bool {
    native::can_guard()
}

/// Functions of the bytecode `B`, with everything that is needed to run them.
///
/// The README's tutorial shows an engine at work.
///
/// ```
#[doc = include_str!("doubling.txt")]
/// let engine = Engine::<Op>::new();
/// let double = engine.define("double", code, 1)?;
/// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
/// # Ok::<(), Error>(())
/// ```
pub struct Engine<B: Bytecode> {
    /// The first field, so that the thread ends before the data that it reads is dropped.
    background: Background<B>,
    /// Dropped before the functions, so that their code memory need not be prepared for reuse.
    backend: RefCell<Backend>,
    /// Memory for finding what functions need at their start.
    starts: RefCell<StartScratch>,
    /// Indexed by function number; `None` where a function was removed.
    functions: RefCell<Vec<Option<Rc<Function<B>>>>>,
    /// The numbers of freed functions that the next functions get.
    vacant: RefCell<Vec<u32>>,
    /// Removed functions to which references may still exist.
    removed: RefCell<Vec<Rc<Function<B>>>>,
    /// How many `Visit`s are active.
    visits: Cell<usize>,
    stack: FrameStacks,
    /// The machine stacks of fibers.
    fiber_stacks: StackPool,
    links: RefCell<Links>,
    /// Discarded code that calls between functions may still run.
    retired: RefCell<Vec<Retired>>,
    /// How much discarded code there must be before all fibers' stacks are looked at for it.
    many_retired: Cell<usize>,
    /// The handle that stops running code.
    remote: native::Remote,
    /// Whether an interrupter was requested, so that loops must poll.
    may_stop: Cell<bool>,
    /// The fuel, if it is limited. Boxed, because compiled code contains its address.
    tank: Option<Box<fuel::Tank>>,
    /// How many calls were made: the unit in which the age of code is measured.
    calls: Cell<u64>,
    tiers: Tiers,
    inlining: inlining::Inlining,
    /// The observers of compilations.
    inside: Inside,
    /// Counters for [`Engine::stats`].
    counts: Counts,
    /// The interpreter in machine code.
    interpreter: Cell<interpreter::Interpreting<B>>,
    /// How many calls and jumps back are interpreted in Rust before functions are interpreted in machine code.
    patience: Cell<i32>,
    /// Whether functions are compiled so that accesses may fault.
    guards: bool,
    /// The frames that are shown, if some template passes them to a function.
    shown: Option<frames::ShownList>,
    /// The functions that failed last, if backtraces are on.
    trace: Option<RefCell<backtrace::Failures>>,
    /// Makes a value of arguments that are more than a function takes.
    packer: surplus::Packer<B>,
    /// Who is told where a call finds no room on the stack.
    overflow: overflow::Overflow<B>,
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
    /// Makes an engine with the default limits.
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

    /// Starts the configuration of an engine.
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
    /// The code is verified here, once: operands lie within the frame and jumps within the code, control does not run off
    /// the end, and the operand stack is balanced. An error names the index of the bad bytecode.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    ///
    /// let error = engine.define("wrong", vec![Op::Return { a: 7.into() }], 1).unwrap_err();
    /// assert_eq!(error.to_string(), "bad bytecode: bytecode 0, Return: `a` is register 7, but the function has 1");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn define(
        &self,
        name: impl Into<String>,
        code: impl Into<Code<B>>,
        registers: u32,
    ) -> Result<FunctionId, Error> {
        let number = self.next_number();
        let body =
            Body::verified(name.into().into(), code.into(), registers, self.guards, self.showing(number))?;
        Ok(self.add(Function::defined(number, Arc::new(body), &self.tiers)))
    }

    /// Adds a function whose bytecode is made when it is first called or compiled: `make` returns the bytecode and the
    /// number of VM registers. So a large program starts at once, and functions that never run are never translated.
    ///
    /// If `make` returns `None`, this and every later use of the function fails with [`Error::NotMade`]; if the bytecode is
    /// wrong, with [`Error::Verify`]. In a call from bytecode either is a [`Trap::BadCall`](crate::Trap::BadCall).
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
        let number = self.next_number();
        let (name, guards): (Arc<str>, bool) = (name.into().into(), self.guards);
        let (named, showing) = (name.clone(), self.showing(number));
        let maker = move || {
            let (code, registers) = make().ok_or(Error::NotMade)?;
            Body::verified(named, code, registers, guards, showing)
        };
        self.add(Function::declared(number, name, Box::new(maker), &self.tiers))
    }

    /// The number of the next function: that of one that was freed, or the first that no function has had.
    fn next_number(&self) -> u32 {
        self.vacant.borrow().last().copied().unwrap_or_else(|| self.functions.borrow().len() as u32)
    }

    /// Adds a function, which has the next number.
    fn add(&self, function: Function<B>) -> FunctionId {
        let (number, mut functions) = (function.number(), self.functions.borrow_mut());
        match self.vacant.borrow_mut().pop() {
            Some(_) => functions[number as usize] = Some(Rc::new(function)),
            None => {
                functions.push(Some(Rc::new(function)));
                self.links.borrow_mut().add();
            }
        }
        FunctionId(number)
    }

    /// Returns the name under which a function was defined.
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

    /// Calls a function and returns its result.
    ///
    /// The arguments become the first VM registers; the others are zero. The result does not depend on the tier that the
    /// function runs in.
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
        self.traced(|| self.run_here(function, context, args, Tier::Optimizer)).map(R::from_slot)
    }

    /// Returns the address of a function, by which templates call it without looking up its number: `(invoke $f …)` takes an
    /// address as well. It is good for as long as the engine exists. After [`remove`](Self::remove) such calls fail with
    /// [`Trap::BadCall`](crate::Trap::BadCall), as others do.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::Callable;
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: In<*const Callable>, a: In<i64> },
    ///     Double { dst: Out<i64>, a: In<i64> },
    ///     Return { a: In<i64> },
    /// }
    ///
    /// template! {
    ///     Op::Call   => unsafe (invoke $function (arglist $a) i64)
    ///     Op::Double => (add $a $a)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// let (a, b) = (0.into(), 1.into());
    /// let double = engine.define("double", vec![Op::Double { dst: a, a: 0.into() }, Op::Return { a: 0.into() }], 1)?;
    /// let call = vec![Op::Call { dst: b, function: 0.into(), a: 1.into() }, Op::Return { a: 1.into() }];
    /// let call = engine.define("call", call, 2)?;
    /// assert_eq!(engine.call(call, &mut (), (engine.callable(double)?, 21i64)), Ok(42i64));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn callable(&self, function: FunctionId) -> Result<*const Callable, Error> {
        self.known(function)?;
        Ok(self.links.borrow().callee(function.0))
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
        self.traced(|| self.run_here(function, context, args, Tier::Interpreter)).map(R::from_slot)
    }

    /// Makes a function's bytecode if that has not been done.
    fn make_known(&self, id: FunctionId) -> Result<(), Error> {
        let _visit = self.visit();
        self.function(id).map(drop)
    }

    /// Looks up a function, and makes its bytecode if that has not been done.
    #[inline(always)]
    fn function(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = self.known(id)?;
        match function.made() {
            Some(result) => result?,
            None => self.make(function)?,
        }
        Ok(function)
    }

    /// Makes a function's bytecode. The maker may run other functions. If the function is the target of a pending tail call,
    /// those would overwrite its arguments, so the pending call is saved.
    #[cold]
    #[inline(never)]
    fn make(&self, function: &Function<B>) -> Result<(), Error> {
        let saved = self.links.borrow().save_tail_call();
        // The maker is a function of Rust, which may need more room than a fiber has.
        let result = running::on_thread_stack(|| function.make());
        self.links.borrow().restore_tail_call(saved);
        result
    }

    /// Looks up a function whose bytecode need not have been made.
    #[inline(always)]
    fn known(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let functions = self.functions.borrow();
        let function = functions.get(id.0 as usize).ok_or(Error::UnknownFunction)?.as_ref();
        let function = function.map(Rc::as_ptr).ok_or(Error::Removed)?;
        // SAFETY: functions are behind an `Rc`, and none is freed as long as there is a visit: see `remove`.
        Ok(unsafe { &*function })
    }
}
