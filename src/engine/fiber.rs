//! Fibers: calls that can be suspended anywhere in their bytecode, and resumed later.
//!
//! In: a function and its arguments. Out: a [`Fiber`], which runs when it is resumed, until it ends or is suspended.
//!
//! A fiber has a machine stack of its own, and frames of its own for VM registers. So suspending it copies nothing, and any tier
//! can run it. Whatever an engine has once and a call in progress depends on changes places at each switch: the current frames,
//! the end of the stack that compiled code compares with, and the fuel that the interpreter has taken.
//!
//! What a suspended fiber has on its stack is known: frames of the engine, of the interpreter and of compiled code, since
//! [`suspend`](super::suspend) refuses everything else. None of them uses the context before the fiber is resumed, which is then
//! given the same context again. When a suspended fiber is dropped, it is resumed once more, and `suspend` fails: a trap, which
//! ends one call after the other. No bytecode runs, and nothing unwinds.

use super::frames::{Frames, ShownOnFiber};
use super::function::{Function, FunctionId};
use super::running::{Running, Wake};
use super::stack::FrameStack;
use super::stacks::{CAN_SWITCH, Coroutine, CoroutineResult, FiberStack, coroutine};
use super::tiers::Tier;
use super::value::{Args, KeptArguments};
use super::{Builder, Engine, fuel};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// What a fiber's stack has unless the builder is told: bytes, and slots. What rustc has not optimized takes several times as many.
pub(super) const STACK: (usize, usize) = (if cfg!(debug_assertions) { 896 << 10 } else { 192 << 10 }, 4096);

/// Whether this machine has fibers: those with Unix on x86-64, AArch64 or 64-bit RISC-V do, and Windows on x86-64.
///
/// ```
/// assert!(azulejo::can_switch() || !cfg!(all(target_os = "linux", target_arch = "x86_64")));
/// ```
pub fn can_switch() -> bool {
    CAN_SWITCH
}

/// How a fiber came back to whoever resumed it.
///
/// ```
/// use azulejo::Resumed;
///
/// fn describe(resumed: Resumed) -> String {
///     match resumed {
///         Resumed::Suspended(value) => format!("it waits, and says {value}"),
///         Resumed::Returned(value) => format!("it has ended with {value}"),
///     }
/// }
/// assert_eq!(describe(Resumed::Returned(42)), "it has ended with 42");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resumed {
    /// It was suspended with this value, and can be resumed.
    Suspended(u64),
    /// Its function has returned this value, as the bits of a VM register.
    Returned(u64),
}

/// A call of a function that can be suspended and resumed. Made by [`Engine::fiber`] or [`Engine::owned_fiber`].
///
/// A fiber that is dropped before its end ends there, and no more of its bytecode runs.
///
/// ```
/// # use azulejo::prelude::*;
/// use azulejo::{Resumed, suspend};
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Yield { a: In<i64> },
///     AddConst { dst: Out<i64>, a: In<i64>, b: Imm<i64> },
///     Jump(Label),
/// }
/// template! {
///     Op::Yield    => (discard (call throws suspend (arglist (carg $a i64)) u64))
///     Op::AddConst => (add $a $b)
///     Op::Jump     => (branch $0)
/// }
///
/// // Counts from its argument on, and never ends.
/// let engine = Engine::<Op>::new();
/// let code = vec![
///     Op::Yield { a: 0.into() },
///     Op::AddConst { dst: 0.into(), a: 0.into(), b: Imm(1) },
///     Op::Jump(Label(0)),
/// ];
/// let count = engine.define("count", code, 1)?;
/// # if azulejo::can_switch() {
/// let mut from_1 = engine.fiber(count, (1i64,))?;
/// let mut from_50 = engine.fiber(count, (50i64,))?;
/// for n in 0..10 {
///     assert_eq!(from_1.resume(&mut (), 0)?, Resumed::Suspended(1 + n));
///     assert_eq!(from_50.resume(&mut (), 0)?, Resumed::Suspended(50 + n));
/// }
/// # }
/// # Ok::<(), Error>(())
/// ```
pub struct Fiber<'e, B: Bytecode> {
    /// `None` once the stack was given back.
    coroutine: Option<Coroutine<Wake, u64, Result<u64, Error>>>,
    /// Whether it has started and not ended.
    is_suspended: bool,
    state: Rc<State>,
    function: FunctionId,
    /// The last field: the engine must outlive all others.
    engine: Holder<'e, B>,
}

/// What a fiber has of its own beside its machine stack.
#[derive(Debug)]
struct State {
    running: Running,
    frames: FrameStack,
    /// The context's address, since the fiber has started.
    context: Cell<usize>,
    /// The fuel that the interpreter has taken for the function that it runs.
    lent: Cell<*const fuel::Portion>,
    /// The frames that it shows.
    pub(super) shown: ShownOnFiber,
}

/// What keeps the engine.
enum Holder<'e, B: Bytecode> {
    Borrowed(&'e Engine<B>),
    Shared(Rc<Engine<B>>),
}

impl<B: Bytecode> Deref for Holder<'_, B> {
    type Target = Engine<B>;

    #[inline(always)]
    fn deref(&self) -> &Engine<B> {
        match self {
            Holder::Borrowed(engine) => engine,
            Holder::Shared(engine) => engine,
        }
    }
}

/// A fiber runs as long as this exists; then its resumer goes on.
struct Switched<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    state: &'a State,
    resumer: Option<NonNull<FrameStack>>,
    lent: *const fuel::Portion,
}

impl<'a, B: Bytecode> Switched<'a, B> {
    #[inline(always)]
    fn to(state: &'a State, engine: &'a Engine<B>) -> Switched<'a, B> {
        let lent = engine.tank.as_ref().map_or(ptr::null(), |tank| tank.switch(state.lent.get()));
        state.running.enter();
        // SAFETY: the state is kept until the resumer's frames are the current ones again.
        let resumer = unsafe { engine.stack.switch_to(Some(NonNull::from(&state.frames))) };
        engine.show_fiber(&state.shown);
        engine.tell_lowest();
        Switched { engine, state, resumer, lent }
    }
}

impl<B: Bytecode> Switched<'_, B> {
    /// Makes the resumer go on.
    #[inline(always)]
    fn leave(&self) {
        let Switched { engine, state, resumer, lent } = *self;
        engine.hide_fiber(&state.shown);
        // SAFETY: the resumer, which made its frames the current ones, waits for this.
        unsafe { engine.stack.switch_to(resumer) };
        state.running.leave();
        engine.tell_lowest();
        if let Some(tank) = &engine.tank {
            state.lent.set(tank.switch(lent));
        }
    }
}

impl<B: Bytecode> Drop for Switched<'_, B> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The engine's own frames, or those of a fiber, are the current ones again when this is dropped.
struct Detour<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    frames: Box<FrameStack>,
    before: Option<NonNull<FrameStack>>,
}

impl<B: Bytecode> Drop for Detour<'_, B> {
    fn drop(&mut self) {
        // SAFETY: those calls are active, so their frames exist.
        unsafe { self.engine.stack.switch_to(self.before) };
        self.engine.stack.remove(&self.frames);
        self.engine.tell_lowest();
    }
}

impl Builder {
    /// Sets how many bytes of its own machine stack the calls of a [fiber](Engine::fiber) may use (by default 192 KiB, and 896 KiB in
    /// debug builds), and how many VM registers they may have together (by default 4096). Functions of Rust have
    /// 64 KiB more (128 KiB in debug builds). The system gives memory only for what was used once, and that in pages.
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
    /// let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(100_000, 1000).build();
    /// let endless = engine.define("endless", code, 1)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber = engine.fiber(endless, (7i64,))?;
    /// assert_eq!(fiber.resume(&mut (), 0), Err(Error::StackOverflow));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fiber_stack(mut self, bytes: usize, slots: usize) -> Self {
        self.fiber_stack = (bytes, slots);
        self
    }
}

impl<B: Bytecode> Engine<B> {
    /// Makes a fiber that calls a function. The arguments become the first VM registers; the call starts when the fiber is first
    /// [resumed](Fiber::resume).
    ///
    /// Fails with [`Error::OutOfFiberStacks`] if the system has no memory for another stack, and with [`Error::Unsupported`] where
    /// there are no fibers: see [`can_switch`].
    ///
    /// The stack is smaller than a thread's, and what is left on it for functions of Rust are 64 KiB (128 KiB in debug builds). A
    /// function that needs more overflows the stack, which ends the process. Bytecode that calls itself too deeply gets an
    /// error value, as everywhere. See [`Builder::fiber_stack`](crate::Builder::fiber_stack).
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// use azulejo::Resumed;
    ///
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber = engine.fiber(double, (21i64,))?;
    /// assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Returned(42));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fiber<A: Args>(&self, function: FunctionId, args: A) -> Result<Fiber<'_, B>, Error> {
        Fiber::new(Holder::Borrowed(self), function, args)
    }

    /// Like [`fiber`](Self::fiber), but the fiber keeps the engine. So it can be kept wherever one likes, also in the context.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// use azulejo::{Fiber, Resumed};
    /// use std::rc::Rc;
    ///
    /// let engine = Rc::new(Engine::<Op>::new());
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber: Fiber<'static, Op> = engine.owned_fiber(double, (21i64,))?;
    /// drop(engine);
    /// assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Returned(42));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn owned_fiber<A: Args>(
        self: &Rc<Self>,
        function: FunctionId,
        args: A,
    ) -> Result<Fiber<'static, B>, Error> {
        Fiber::new(Holder::Shared(Rc::clone(self)), function, args)
    }

    /// Returns how many fibers exist that have not ended.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_switch() {
    /// let fiber = engine.fiber(double, (21i64,))?;
    /// assert_eq!(engine.fibers(), 1);
    /// drop(fiber);
    /// # }
    /// assert_eq!(engine.fibers(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fibers(&self) -> usize {
        self.fiber_stacks.in_use()
    }

    /// Tells compiled code where the stack ends. It means nothing if no calls are active on the current one: the first that is made there
    /// tells it anew.
    #[inline(always)]
    pub(super) fn tell_lowest(&self) {
        // SAFETY: the reference ends before anybody else borrows the links.
        let links = unsafe { self.links.try_borrow_unguarded() }.expect("nobody changes them meanwhile");
        links.set_lowest(self.stack.lowest());
    }

    /// Runs a function. If the calls that are active were made on another machine stack than the one that runs, it gets frames of
    /// its own: those that are there say nothing of where this stack ends.
    #[inline(always)]
    pub(super) fn run_here<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<u64, Error> {
        if self.stack.is_elsewhere() {
            return self.run_on_detour(function, context, args, highest);
        }
        self.run(function, context, args, highest)
    }

    #[cold]
    #[inline(never)]
    fn run_on_detour<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<u64, Error> {
        let _detour = self.begin_detour();
        self.run(function, context, args, highest)
    }

    fn begin_detour(&self) -> Detour<'_, B> {
        let frames = Box::new(self.stack.another());
        // SAFETY: the box is kept until it is removed and no longer current.
        let before = unsafe {
            self.stack.add(&frames);
            self.stack.switch_to(Some(NonNull::from(&*frames)))
        };
        Detour { engine: self, frames, before }
    }
}

impl<B: Bytecode> fmt::Debug for Fiber<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = &mut f.debug_struct("Fiber");
        fields.field("function", &self.function).field("has_ended", &self.has_ended()).finish_non_exhaustive()
    }
}

impl<'e, B: Bytecode> Fiber<'e, B> {
    fn new<A: Args>(engine: Holder<'e, B>, function: FunctionId, args: A) -> Result<Self, Error> {
        let arguments = KeptArguments::of(args);
        let stack = engine.fiber_stacks.take()?;
        let state = Rc::new(State {
            running: Running::new(stack.addresses()),
            frames: stack.frames(),
            context: Cell::new(0),
            lent: Cell::new(ptr::null()),
            shown: ShownOnFiber::default(),
        });
        let (owner, own_state): (*const Engine<B>, _) = (&*engine, Rc::as_ptr(&state));
        // SAFETY: the fiber keeps the engine and the state until its coroutine is done or dropped.
        let coroutine = unsafe {
            coroutine(stack, move |yielder, _: Wake| {
                let (engine, state) = (&*owner, &*own_state);
                state.running.start(yielder);
                let function = engine.function(function)?;
                let context = ptr::with_exposed_provenance_mut(state.context.get());
                engine.run(function, context, arguments.words(), Tier::Optimizer)
            })
        };
        Ok(Fiber { coroutine: Some(coroutine), is_suspended: false, state, function, engine })
    }

    /// Runs the fiber until it ends or is suspended. The value is what [`suspend`](crate::suspend) returns in the fiber; the first
    /// time there is nobody to get it.
    ///
    /// The context must be the same each time, at the same address, if it has a size: otherwise this fails with
    /// [`Error::OtherContext`], and the fiber can still be resumed. When the function fails, the fiber ends, and this returns the
    /// error; when it panics, the panic comes out of here. What has ended fails with [`Error::FiberEnded`].
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::{Resumed, suspend};
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Yield { dst: Out<u64>, a: In<u64> },
    ///     Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    ///     Jump(Label),
    /// }
    /// template! {
    ///     Op::Yield => (call throws suspend (arglist (carg $a u64)) u64)
    ///     Op::Add   => (add $a $b)
    ///     Op::Jump  => (branch $0)
    /// }
    ///
    /// // Tells the sum of all that it was told.
    /// let engine = Engine::<Op>::new();
    /// let code = vec![
    ///     Op::Yield { dst: 1.into(), a: 0.into() },
    ///     Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
    ///     Op::Jump(Label(0)),
    /// ];
    /// let sum = engine.define("sum", code, 2)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber = engine.fiber(sum, ())?;
    /// let told = [0, 10, 20, 12].map(|value| fiber.resume(&mut (), value));
    /// assert_eq!(told, [0, 10, 30, 42].map(|sum| Ok(Resumed::Suspended(sum))));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    // Inlined, so that no return follows a switch: the processor would predict it wrong, since it has seen the call on another
    // stack. That takes longer than all else here.
    #[inline(always)]
    pub fn resume(&mut self, context: &mut B::Context, value: u64) -> Result<Resumed, Error> {
        // Exposed, because the fiber keeps only the address: each time it gets the right to use the context anew.
        let context = ptr::from_mut(context).expose_provenance();
        let is_other = || context != self.state.context.get() && size_of::<B::Context>() > 0;
        if !self.is_suspended || is_other() {
            self.start(context)?;
        }
        let coroutine = self.coroutine.as_mut().expect("it has started and not ended");
        let switched = Switched::to(&self.state, &self.engine);
        // A panic leaves it at that.
        self.is_suspended = false;
        let result = coroutine.resume(Wake::With(value));
        // Not the drop, whose code would be called and return behind a switch. It is for panics.
        switched.leave();
        std::mem::forget(switched);
        match result {
            CoroutineResult::Yield(value) => {
                self.is_suspended = true;
                Ok(Resumed::Suspended(value))
            }
            CoroutineResult::Return(result) => self.end_with(result),
        }
    }

    /// Prepares the fiber for its start; an error if it was started before.
    #[cold]
    #[inline(never)]
    fn start(&self, context: usize) -> Result<(), Error> {
        match &self.coroutine {
            Some(coroutine) if coroutine.done() => Err(Error::FiberEnded),
            None => Err(Error::FiberEnded),
            Some(coroutine) if coroutine.started() => Err(Error::OtherContext),
            Some(_) => {
                self.engine.make_known(self.function)?;
                self.state.context.set(context);
                self.engine.keep_functions();
                self.state.shown.start();
                // SAFETY: the state is kept until the fiber has ended, and is removed then.
                unsafe { self.engine.stack.add(&self.state.frames) };
                Ok(())
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn end_with(&mut self, result: Result<u64, Error>) -> Result<Resumed, Error> {
        self.end();
        self.engine.end_failures();
        self.engine.has_stopped(&result);
        result.map(Resumed::Returned)
    }

    /// The frames of the functions in which the fiber is suspended, if their calls observe: also that of
    /// [`suspend`](crate::suspend), `(call observes throws suspend …)`. There are none before it starts, when its arguments are in no
    /// frame yet, and when it has ended.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::{Frames, suspend};
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Yield { dst: Out<u64>, a: In<u64> },
    ///     Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    ///     Depth { dst: Out<u64> },
    ///     Return { a: In<u64> },
    /// }
    /// template! {
    ///     Op::Yield  => (call observes throws suspend (arglist (carg $a u64)) u64)
    ///     Op::Add    => (add $a $b)
    ///     Op::Depth  => (call observes depth (arglist (carg (frames) ptr)) u64)
    ///     Op::Return => (return $a)
    /// }
    /// fn depth(frames: Frames<'_>) -> u64 {
    ///     frames.iter().count() as u64
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// let code = vec![
    ///     Op::Yield { dst: 1.into(), a: 0.into() },
    ///     Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
    ///     Op::Return { a: 0.into() },
    /// ];
    /// let sum = engine.define("sum", code, 2)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber = engine.fiber(sum, (40u64,))?;
    /// fiber.resume(&mut (), 0)?;
    /// // Register 0 is read later; register 1 is written first.
    /// for frame in fiber.frames().iter() {
    ///     assert_eq!((frame.bytecode(), frame.registers().collect::<Vec<_>>()), (0, vec![(0, 40)]));
    ///     frame.set(0, 50);
    /// }
    /// assert_eq!(fiber.resume(&mut (), 2)?, azulejo::Resumed::Returned(52));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn frames(&mut self) -> Frames<'_> {
        match self.is_suspended {
            true => self.state.shown.frames(),
            false => Frames::none(),
        }
    }

    /// Whether the fiber has ended: its function has returned, failed or panicked.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_switch() {
    /// let mut fiber = engine.fiber(double, (21i64,))?;
    /// assert!(!fiber.has_ended());
    /// fiber.resume(&mut (), 0)?;
    /// assert!(fiber.has_ended());
    /// assert_eq!(fiber.resume(&mut (), 0), Err(Error::FiberEnded));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn has_ended(&self) -> bool {
        self.coroutine.as_ref().is_none_or(|coroutine| coroutine.done())
    }

    /// Gives back what a fiber has that was started and has ended.
    fn end(&mut self) {
        let Some(coroutine) = self.coroutine.take() else { return };
        self.engine.fiber_stacks.give_back(stack_of(coroutine));
        self.engine.stack.remove(&self.state.frames);
        self.engine.free_retired_behind_fiber();
        self.engine.release_functions();
    }
}

fn stack_of(coroutine: Coroutine<Wake, u64, Result<u64, Error>>) -> FiberStack {
    coroutine.into_stack()
}

impl<B: Bytecode> Drop for Fiber<'_, B> {
    fn drop(&mut self) {
        let Some(coroutine) = &mut self.coroutine else { return };
        if !coroutine.started() {
            // Drops the arguments.
            coroutine.force_unwind();
            let stack = self.coroutine.take().map(stack_of);
            stack.into_iter().for_each(|stack| self.engine.fiber_stacks.give_back(stack));
            return;
        }
        if !coroutine.done() {
            let failures = self.engine.save_failures();
            let switched = Switched::to(&self.state, &self.engine);
            let result = coroutine.resume(Wake::End);
            drop(switched);
            self.engine.restore_failures(failures);
            debug_assert!(matches!(result, CoroutineResult::Return(Err(_))), "a trap ends all calls");
        }
        self.end();
    }
}
