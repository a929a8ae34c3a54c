//! Frames: what a Rust function sees of the functions of bytecode that wait for it.
//!
//! In: the list of frames that are shown (`azulejo_core::ir::frames`), which each call that observes adds its frame to. Out: [`Frames`],
//! innermost first, with the registers that are alive in each. Holds: each frame in the list belongs to a call that is active, or to a
//! fiber that is suspended.
//!
//! A call that fails leaves its frame in the list, and so does one that panics. Its callers fail as well, without running any more
//! bytecode, up to a call that Rust made of the engine: when that ends, the list is as it was when it began ([`Engine::show_again`]).
//!
//! A fiber has a list of its own. Its last entry, which is no frame, leads to the frames of who resumed it, while it runs.

use super::function::FrameLayout;
use super::native::Word;
use super::{Builder, Engine, FunctionId};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::frames::ShownFrame;
use azulejo_core::ir::template::Template;
use azulejo_core::native::{Call, Passed, access, kind};
use azulejo_core::pass::build::TemplateUses;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The list of the frames of an engine that are shown. Boxed, because compiled code contains the word's address.
#[derive(Debug)]
pub(super) struct ShownList {
    newest: Box<Word>,
    /// What the templates do with their operands.
    uses: Arc<TemplateUses>,
}

impl ShownList {
    /// The list, if some template of a bytecode type passes frames to a function.
    pub(super) fn of<B: Bytecode>() -> Option<ShownList> {
        Template::any_takes_frames(B::templates()).then(|| ShownList {
            newest: Box::new(Word::new()),
            uses: Arc::new(TemplateUses::new(B::templates().len())),
        })
    }

    fn address(&self) -> u64 {
        ptr::from_ref::<AtomicU64>(&self.newest).expose_provenance() as u64
    }
}

/// The frames that a fiber shows, and with them the end of its list.
pub(super) struct ShownOnFiber {
    /// The newest while the fiber is suspended: the end of its list if it has none.
    newest: Cell<u64>,
    /// What follows the fiber's frames: it has no layout, and leads to the frames of who resumed the fiber. Zero while the fiber is
    /// suspended.
    end: UnsafeCell<ShownFrame>,
}

impl Default for ShownOnFiber {
    fn default() -> Self {
        let end = ShownFrame { before: 0, layout: 0, bytecode: 0, call: 0 };
        ShownOnFiber { newest: Cell::new(0), end: UnsafeCell::new(end) }
    }
}

impl fmt::Debug for ShownOnFiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownOnFiber").finish_non_exhaustive()
    }
}

impl ShownOnFiber {
    /// The fiber starts, without a frame. This stays where it is until the fiber ends.
    pub(super) fn start(&self) {
        self.newest.set(self.end.get().expose_provenance() as u64);
    }

    /// The frames, while the fiber is suspended.
    pub(super) fn frames(&self) -> Frames<'_> {
        Frames { newest: self.newest.get(), call: PhantomData, thread: PhantomData }
    }
}

impl Builder {
    /// Promises that nobody writes registers by [`Frame::set`] and [`Frame::update`], until
    /// [`Engine::let_registers_be_written`] is called: frames are only looked at, say by a collector that moves nothing. Behind a call that
    /// `observes` the optimizer then need not load registers again, and what it knows of their values stays true.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::Frames;
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Sum { dst: Out<u64> },
    ///     Return { a: In<u64>, b: In<u64> },
    /// }
    /// template! {
    ///     Op::Sum    => (call observes sum (arglist (carg (frames) ptr)) u64)
    ///     Op::Return => (return (add $a $b))
    /// }
    /// fn sum(frames: Frames<'_>) -> u64 {
    ///     frames.iter().flat_map(|frame| frame.registers().collect::<Vec<_>>()).map(|(_, value)| value).sum()
    /// }
    ///
    /// let engine: Engine<Op> = Engine::<Op>::builder().registers_only_read(true).build();
    /// let twice = engine.define("twice", vec![Op::Sum { dst: 1.into() }, Op::Return { a: 0.into(), b: 1.into() }], 2)?;
    /// assert_eq!(engine.call::<_, u64>(twice, &mut (), (21u64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn registers_only_read(mut self, only_read: bool) -> Self {
        self.registers_only_read = only_read;
        self
    }
}

impl<B: Bytecode> Engine<B> {
    /// Ends the promise of [`Builder::registers_only_read`], if it was made, and discards what the optimizer has made of it. Functions that
    /// run in such code stay in it until they return or leave it: [their frames](Frame::can_be_written) are still only to be looked at.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::Frames;
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Set,
    ///     Return { a: In<u64> },
    /// }
    /// template! {
    ///     Op::Set    => (callv observes set (arglist (carg (frames) ptr)))
    ///     Op::Return => (return $a)
    /// }
    /// fn set(frames: Frames<'_>) {
    ///     frames.iter().filter(|frame| frame.can_be_written()).for_each(|frame| drop(frame.set(0, 50)));
    /// }
    ///
    /// let engine: Engine<Op> = Engine::<Op>::builder().registers_only_read(true).build();
    /// let function = engine.define("set", vec![Op::Set, Op::Return { a: 0.into() }], 1)?;
    /// engine.compile(function)?;
    /// assert_eq!(engine.call::<_, u64>(function, &mut (), (7u64,))?, if azulejo::can_compile().is_ok() { 7 } else { 50 });
    /// engine.let_registers_be_written();
    /// engine.compile(function)?;
    /// assert_eq!(engine.call::<_, u64>(function, &mut (), (7u64,))?, 50);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn let_registers_be_written(&self) {
        if self.links.borrow_mut().set_only_read(false) {
            let functions: Vec<_> = self.functions.borrow().iter().flatten().cloned().collect();
            let optimized = functions.into_iter().filter(|function| function.is_optimized_or_soon());
            optimized.for_each(|function| self.discard_optimized(&function));
            self.free_retired();
        }
    }

    /// How a function of this number is to show its frames, if functions do.
    pub(super) fn showing(&self, function: u32) -> Option<super::function::Showing> {
        let list = self.shown.as_ref()?;
        Some(super::function::Showing { newest: list.address(), function, uses: list.uses.clone() })
    }

    /// The newest of the frames that are shown; zero if there is none.
    #[inline(always)]
    pub(super) fn newest_shown(&self) -> u64 {
        self.shown.as_ref().map_or(0, |list| list.newest.load(Relaxed))
    }

    /// The frames that wait for whoever is called now.
    pub(super) fn waiting(&self) -> Frames<'_> {
        Frames { newest: self.newest_shown(), call: PhantomData, thread: PhantomData }
    }

    /// Makes this the newest of the frames that are shown, when all that were shown later are gone.
    #[inline(always)]
    pub(super) fn show_again(&self, newest: u64) {
        if let Some(list) = &self.shown {
            list.newest.store(newest, Relaxed);
        }
    }

    /// Shows a fiber's frames, which is about to run, in front of those of its resumer.
    #[inline(always)]
    pub(super) fn show_fiber(&self, fiber: &ShownOnFiber) {
        let Some(newest) = self.shown.as_ref().map(|list| &*list.newest) else { return };
        // SAFETY: nobody has a reference to the end; it stays where it is as long as the fiber does.
        unsafe { (*fiber.end.get()).before = newest.load(Relaxed) };
        newest.store(fiber.newest.get(), Relaxed);
    }

    /// Ends what [`show_fiber`](Self::show_fiber) began: the fiber is suspended, or has ended.
    #[inline(always)]
    pub(super) fn hide_fiber(&self, fiber: &ShownOnFiber) {
        let Some(newest) = self.shown.as_ref().map(|list| &*list.newest) else { return };
        fiber.newest.set(newest.load(Relaxed));
        // SAFETY: as above.
        newest.store(unsafe { std::mem::take(&mut (*fiber.end.get()).before) }, Relaxed);
    }
}

/// The frames of all functions of bytecode that wait for the Rust function that has this: it is the argument that a template passes by
/// `(carg (frames) ptr)` in a call that `observes`. With it a moving collector of garbage is written.
///
/// A frame is there if the call it waits for observes: `(call observes …)`, `(invoke observes …)`. All registers that are alive are in their
/// slots then, in every tier, and read from there afterwards. Functions of Rust may be in between, and calls of the engine that they make: their
/// frames follow. A function that has ended in a tail call has no frame. Nor has one that waits for a call of Rust by `(call leaf …)`: nobody
/// can look from there, since such a function calls no bytecode.
///
/// ```
/// use azulejo::prelude::*;
/// use azulejo::Frames;
///
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Collect,
///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
///     Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
///     Return { a: In<i64> },
/// }
/// template! {
///     Op::Collect => (callv observes collect (arglist (carg (frames) ptr)))
///     Op::Call    => (invoke observes $function (arglist $a) i64)
///     Op::Add     => (add $a $b)
///     Op::Return  => (return $a)
/// }
/// /// Moves each value: here, to ten times what it was.
/// fn collect(frames: Frames<'_>) {
///     for frame in frames.iter() {
///         frame.update(|value| value * 10);
///     }
/// }
///
/// let engine = Engine::<Op>::new();
/// let code = vec![Op::Collect, Op::Return { a: 0.into() }];
/// let inner = engine.define("inner", code, 1)?;
/// let code = vec![
///     Op::Call { dst: 1.into(), function: Imm(inner.number()), a: 0.into() },
///     Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
///     Op::Return { a: 0.into() },
/// ];
/// let outer = engine.define("outer", code, 2)?;
/// // Register 0 of both functions is alive, register 1 of the outer one is not: it is written first.
/// assert_eq!(engine.call::<_, i64>(outer, &mut (), (3i64,))?, 60);
/// # Ok::<(), Error>(())
/// ```
///
/// Two are equal if they show the same frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Frames<'call> {
    newest: u64,
    /// It is there for one call, and stays on the thread.
    call: PhantomData<&'call Call>,
    thread: PhantomData<*const ()>,
}

impl<'call> Passed<'call, kind::frames> for Frames<'call> {
    // No reference that a function may take beside it leads into a frame.
    type Access = access::Made;
    #[inline(always)]
    unsafe fn passed(_: &'call Call, value: i64) -> Self {
        let list = ptr::with_exposed_provenance::<AtomicU64>(value as usize);
        // SAFETY: it is the address of the engine's list; or zero if the machine is nobody's, and has none.
        let newest = unsafe { list.as_ref() }.map_or(0, |newest| newest.load(Relaxed));
        Frames { newest, call: PhantomData, thread: PhantomData }
    }
}

impl fmt::Debug for Frames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Frames<'_> {
    /// No frames, for a function that otherwise bytecode calls.
    ///
    /// ```
    /// use azulejo::Frames;
    ///
    /// fn depth(frames: Frames<'_>) -> u64 {
    ///     frames.iter().count() as u64
    /// }
    /// assert_eq!(depth(Frames::none()), 0);
    /// ```
    pub fn none() -> Self {
        Frames { newest: 0, call: PhantomData, thread: PhantomData }
    }

    /// The frames, innermost first. If a fiber runs, those of who resumed it follow its own.
    ///
    /// ```
    /// fn calls(frames: azulejo::Frames<'_>) -> u64 {
    ///     frames.iter().count() as u64
    /// }
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Frame<'_>> {
        let mut next = self.newest;
        std::iter::from_fn(move || {
            loop {
                let shown = ptr::with_exposed_provenance_mut::<ShownFrame>(next as usize);
                // SAFETY: whatever is in the list is there as long as this is: the calls that wait for the function which has this, and
                // the ends of fibers that run or are borrowed.
                let ShownFrame { before, layout, bytecode, call } = *unsafe { shown.as_ref() }?;
                next = before;
                let [only_read, by_distance] =
                    [ShownFrame::ONLY_READ, ShownFrame::BY_DISTANCE].map(|bit| layout & bit != 0);
                let layout = layout & !(ShownFrame::ONLY_READ | ShownFrame::BY_DISTANCE);
                let layout = ptr::with_exposed_provenance::<FrameLayout>(layout as usize);
                // SAFETY: layouts live as long as calls of their functions are active.
                let Some(layout) = (unsafe { layout.as_ref() }) else { continue };
                let bytecode = if by_distance { layout.at_distance(bytecode) } else { bytecode };
                let slots = shown.cast::<u64>().wrapping_sub(layout.slot() as usize);
                return Some(Frame { layout, slots, bytecode, call, only_read });
            }
        })
    }

    /// The function of each frame, and the bytecode at which it waits: what a guest's user is shown.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::Frames;
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = Vec<(FunctionId, u32)>)]
    /// enum Op {
    ///     Note,
    ///     Call { function: Imm<u32> },
    ///     Return,
    /// }
    /// template! {
    ///     Op::Note   => (callv observes note (arglist (carg (tc) ptr) (carg (frames) ptr)))
    ///     Op::Call   => (invokev observes $function (arglist))
    ///     Op::Return => (return)
    /// }
    /// fn note(seen: &mut Vec<(FunctionId, u32)>, frames: Frames<'_>) {
    ///     *seen = frames.backtrace();
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// let inner = engine.define("inner", vec![Op::Note, Op::Return], 0)?;
    /// let call = Op::Call { function: Imm(inner.number()) };
    /// let outer = engine.define("outer", vec![Op::Note, call, Op::Return], 0)?;
    /// let mut seen = Vec::new();
    /// engine.call::<_, ()>(outer, &mut seen, ())?;
    /// assert_eq!(seen, [(inner, 0), (outer, 1)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn backtrace(&self) -> Vec<(FunctionId, u32)> {
        self.iter().map(|frame| (frame.function(), frame.bytecode())).collect()
    }
}

/// A frame of a function of bytecode that waits for a call: see [`Frames`].
///
/// Its registers are numbered as in the bytecode; the operand stack's entries follow them. It has only those that are alive: that may be
/// read behind the call before they are written. So what a collector has moved is nowhere else. Like a `Cell`, a frame is written through a
/// shared reference.
///
/// ```
/// use azulejo::{Frame, Frames};
///
/// /// The greatest number in any frame.
/// fn greatest(frames: Frames<'_>) -> u64 {
///     let of_frame = |frame: Frame<'_>| frame.registers().map(|(_, value)| value).max();
///     frames.iter().filter_map(of_frame).max().unwrap_or(0)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    layout: &'a FrameLayout,
    slots: *mut u64,
    bytecode: u32,
    call: u32,
    only_read: bool,
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = &mut f.debug_struct("Frame");
        fields.field("function", &self.function()).field("bytecode", &self.bytecode);
        fields.field("registers", &self.registers().collect::<Vec<_>>()).finish()
    }
}

impl<'a> Frame<'a> {
    /// The function.
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 42);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     assert_eq!(frame.function().number(), 0);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn function(&self) -> FunctionId {
        FunctionId(self.layout.function())
    }

    /// The number of the bytecode that makes the call.
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 42);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     assert_eq!(frame.bytecode(), 0);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bytecode(&self) -> u32 {
        self.bytecode
    }

    /// The registers that are alive, each with its value, in ascending order.
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 42);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     assert_eq!(frame.registers().collect::<Vec<_>>(), [(1, 42)]);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn registers(&self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        let slots = self.slots;
        // SAFETY: the frame has these registers.
        self.alive().iter().map(move |&register| (register, unsafe { slots.add(register as usize).read() }))
    }

    /// The value of a register; `None` unless it is alive.
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 42);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     assert_eq!((frame.get(0), frame.get(1)), (None, Some(42)));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get(&self, register: u32) -> Option<u64> {
        // SAFETY: the frame has the registers that are alive.
        self.is_alive(register).then(|| unsafe { self.slots.add(register as usize).read() })
    }

    /// Writes a register. Returns whether it is alive, as nothing is written otherwise. Panics if the frame
    /// [cannot be written](Self::can_be_written).
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 50);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     assert!(frame.set(1, 50) && !frame.set(0, 50));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set(&self, register: u32, value: u64) -> bool {
        self.demand_that_it_can_be_written();
        let is_alive = self.is_alive(register);
        if is_alive {
            // SAFETY: the frame has the registers that are alive.
            unsafe { self.slots.add(register as usize).write(value) };
        }
        is_alive
    }

    /// Writes what a function makes of each register that is alive. Panics if the frame [cannot be written](Self::can_be_written).
    ///
    /// ```
    #[doc = include_str!("looking.txt")]
    /// let result: u64 = engine.call(function, &mut (), (7u64, 42u64))?;
    /// assert_eq!(result, 43);
    ///
    /// fn look(frames: Frames<'_>) {
    ///     let frame = frames.iter().next().unwrap();
    ///     frame.update(|value| value + 1);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn update(&self, mut change: impl FnMut(u64) -> u64) {
        self.demand_that_it_can_be_written();
        for &register in self.alive() {
            // SAFETY: as above.
            let slot = unsafe { self.slots.add(register as usize) };
            // SAFETY: as above; nobody has a reference to the slot.
            unsafe { slot.write(change(slot.read())) };
        }
    }

    /// Whether registers can be written. Otherwise the function runs in code of the optimizer that was made while
    /// [nobody was to write any](crate::Builder::registers_only_read).
    ///
    /// ```
    /// /// Sets a variable that a debugger knows. Says whether it could.
    /// fn assign(frame: &azulejo::Frame<'_>, register: u32, value: u64) -> bool {
    ///     frame.can_be_written() && frame.set(register, value)
    /// }
    /// ```
    pub fn can_be_written(&self) -> bool {
        !self.only_read
    }

    #[inline]
    fn demand_that_it_can_be_written(&self) {
        assert!(self.can_be_written(), "the engine was told that registers are only read");
    }

    fn alive(&self) -> &'a [u32] {
        // SAFETY: the function waits for a call, so its body exists.
        unsafe { self.layout.roots_at(self.bytecode, self.call) }
    }

    fn is_alive(&self, register: u32) -> bool {
        self.alive().binary_search(&register).is_ok()
    }
}
