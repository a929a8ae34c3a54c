//! The stack of frames: 64-bit slots, the same for every tier.
//!
//! In: the size of a frame, when a function is called. Out: a zeroed frame, or an error if there is no room.
//!
//! Frames are released in the reverse of the order in which they are taken. A frame never moves while it is in use: compiled
//! code and the interpreter hold its address. Every call of the engine takes a frame, so unbounded recursion is stopped here,
//! too, before the machine's own stack overflows.

use super::running::{self, Running};
use crate::Error;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ops::Range;

/// The least part of the machine's stack, in bytes, that is left for the interpreter and for native functions. Compiled without
/// optimization, an interpreter takes more than a hundred bytes for each opcode.
const ROOM: usize = if cfg!(debug_assertions) { 128 << 10 } else { 64 << 10 };

/// How many bytes of a large stack are left, for native functions with large frames. Whoever is told of an overflow has half of it.
const MUCH_ROOM: usize = if cfg!(debug_assertions) { 1 << 20 } else { 256 << 10 };

/// Of a stack of `n` bytes, `n / IS_LARGE` are left, but at least `ROOM` and at most `MUCH_ROOM`.
const IS_LARGE: usize = 8;

/// How many bytes of the machine's stack a compiler takes, with a safety margin.
const TO_COMPILE: usize = if cfg!(debug_assertions) { 192 << 10 } else { 64 << 10 };

/// How many slots frames may have more while the overflow of a stack is handled.
const SPARE_SLOTS: usize = 1024;

/// How many words after the last frame can be read.
pub(crate) const MARGIN: usize = 8;

/// Memory for frames.
#[derive(Debug)]
pub(crate) struct FrameStack {
    slots: *mut u64,
    /// The allocation; `None` if there is none, or somebody else's memory is used.
    layout: Option<Layout>,
    /// Whether the system had enough memory.
    has_memory: bool,
    /// How many slots frames may have together.
    capacity: Cell<usize>,
    top: Cell<usize>,
    /// The lowest address that the machine's stack may reach, as set by the outermost call.
    lowest: Cell<usize>,
    /// How many bytes below that are left at least.
    room: Cell<usize>,
    /// Whether the overflow of this stack is being handled.
    is_handled: Cell<bool>,
    /// The address on the machine's stack at which the outermost call was made.
    outermost: Cell<usize>,
    /// The fiber on whose stack the outermost call was made; null for the thread's own stack.
    made_on: Cell<*const Running>,
    depth: Cell<u32>,
    native_limit: usize,
    /// Its place among the stacks that the engine keeps beside its own.
    place: Cell<usize>,
}

/// A frame in use; released when dropped, also during unwinding.
#[derive(Debug)]
pub(crate) struct TakenFrame<'a> {
    stack: &'a FrameStack,
    first: usize,
}

/// While this exists, calls may use a part of what is otherwise left of a stack.
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    stack: &'a FrameStack,
    lowest: usize,
    capacity: usize,
}

/// Returns an error if too little of the thread's stack is left to run a compiler.
pub(crate) fn demand_for_compiling() -> Result<(), Error> {
    match stack_left() {
        Some(left) if left < TO_COMPILE => Err(Error::StackOverflow),
        _ => Ok(()),
    }
}

/// How many bytes are left of the machine stack that runs: the fiber's, or the thread's. `None` if the system does not say where it ends.
///
/// A function of Rust that calls itself as deep as its input nests, such as a parser, can so stop before the stack overflows.
///
/// ```
/// fn is_deep(levels: u32) -> Result<u32, &'static str> {
///     match azulejo::stack_left() {
///         Some(left) if left < 100_000 => Err("it nests too deep"),
///         None => Err("nobody knows"),
///         _ if levels == 0 => Ok(0),
///         _ => Ok(1 + is_deep(levels - 1)?),
///     }
/// }
/// # if cfg!(all(target_os = "linux", not(miri))) {
/// let thread = std::thread::Builder::new().stack_size(300_000);
/// let found = thread.spawn(|| (is_deep(10), is_deep(1_000_000)))?.join();
/// assert_eq!(found.ok(), Some((Ok(10), Err("it nests too deep"))));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn stack_left() -> Option<usize> {
    let here = here();
    running::stack().filter(|stack| stack.contains(&here)).map(|stack| here - stack.start)
}

/// How large a stack must be so that calls of bytecode can use this many bytes of it.
pub(crate) fn with_room(bytes: usize) -> usize {
    bytes.saturating_add((bytes / (IS_LARGE - 1)).clamp(ROOM, MUCH_ROOM))
}

/// An address close to the stack pointer.
#[inline(always)]
pub(crate) fn here() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}

impl FrameStack {
    pub(crate) fn new(capacity: usize, native_limit: usize) -> FrameStack {
        // Frames are zeroed when they are taken, so the allocation is not: a large stack costs nothing until it is used.
        // The margin can be read because calls that take arguments from a frame's last slots may read beyond the frame.
        let wanted = FrameStack::words(capacity).and_then(|all| Layout::array::<u64>(all).ok());
        let allocated = wanted.and_then(|layout| {
            // SAFETY: the layout is not empty.
            let slots: *mut u64 = unsafe { alloc(layout) }.cast();
            (!slots.is_null()).then_some((slots, layout))
        });
        // Without an allocation only frames without slots are possible. The margin after them can be read; nothing is written.
        static NOTHING: [u64; MARGIN] = [0; MARGIN];
        let slots = allocated.map_or(NOTHING.as_ptr().cast_mut(), |(slots, _)| slots);
        let layout = allocated.map(|(_, layout)| layout);
        let capacity = if layout.is_some() { capacity } else { 0 };
        let mut stack = FrameStack::over(slots, capacity, native_limit);
        (stack.layout, stack.has_memory) = (layout, layout.is_some());
        stack
    }

    /// How many words of memory a stack takes on which frames may have so many slots.
    pub(crate) fn words(capacity: usize) -> Option<usize> {
        capacity.checked_add(SPARE_SLOTS + MARGIN)
    }

    /// Frames in memory that belongs to somebody else: so many [words](Self::words) at this address. Only whoever takes frames uses it.
    pub(crate) fn over(slots: *mut u64, capacity: usize, native_limit: usize) -> FrameStack {
        FrameStack {
            slots,
            layout: None,
            has_memory: true,
            capacity: Cell::new(capacity),
            top: Cell::new(0),
            lowest: Cell::new(0),
            room: Cell::new(0),
            is_handled: Cell::new(false),
            outermost: Cell::new(0),
            made_on: Cell::new(std::ptr::null()),
            depth: Cell::new(0),
            native_limit,
            place: Cell::new(0),
        }
    }

    /// An empty stack of the same size, with memory of its own.
    pub(crate) fn another(&self) -> FrameStack {
        FrameStack::new(self.capacity.get(), self.native_limit)
    }

    /// Takes a frame of zeroed slots; an error if there is no room for it, or too little room on the machine's own stack.
    /// `caller` is an address in the caller's machine frame: the frames of its callees are below it.
    pub(crate) fn enter(&self, n_slots: usize, caller: usize) -> Result<TakenFrame<'_>, Error> {
        if self.depth.get() == 0 {
            self.outermost.set(caller);
            self.made_on.set(running::current());
            self.start_from(caller);
        }
        let first = self.top.get();
        if n_slots > self.capacity.get() - first {
            return Err(if self.has_memory { Error::StackOverflow } else { Error::OutOfStackMemory });
        }
        self.demand(0)?;
        self.top.set(first + n_slots);
        self.depth.set(self.depth.get() + 1);
        // SAFETY: the slots lie within the allocation, and no other frame in use covers them.
        unsafe { self.slots.add(first).write_bytes(0, n_slots) };
        Ok(TakenFrame { stack: self, first })
    }

    /// Returns an error if fewer than `native_bytes` of the machine's own stack are left.
    #[inline(always)]
    pub(crate) fn demand(&self, native_bytes: usize) -> Result<(), Error> {
        let is_left = here().saturating_sub(native_bytes) >= self.lowest.get();
        is_left.then_some(()).ok_or(Error::StackOverflow)
    }

    /// The lowest address that the machine's stack may reach.
    pub(crate) fn lowest(&self) -> usize {
        self.lowest.get()
    }

    /// Whether any call is active.
    pub(crate) fn is_in_use(&self) -> bool {
        self.depth.get() > 0
    }

    /// Whether calls are active that were made on another stack than the running one.
    #[inline(always)]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.is_in_use() && self.made_on.get() != running::current()
    }

    /// The machine's stack between the outermost call and the last place that was reached: it has the return addresses of all
    /// active calls. `None` if the bounds of the stack are not known.
    pub(crate) fn extent(&self) -> Option<Range<usize>> {
        let outermost = self.outermost.get();
        match self.depth.get() {
            0 => Some(outermost..outermost),
            // SAFETY: calls that were made on a fiber's stack end before the fiber does.
            _ => unsafe { running::used_below(self.made_on.get(), outermost) },
        }
    }

    /// Its place among the stacks that the engine keeps beside its own.
    pub(crate) fn place(&self) -> &Cell<usize> {
        &self.place
    }

    /// Sets the lowest address that the machine's stack may reach if the outermost call is made from this address: the engine's own
    /// limit applies, and some room is left at the end of the thread's stack. (On a stack that is not the thread's, only the
    /// limit applies.)
    fn start_from(&self, address: usize) {
        let by_limit = address.saturating_sub(self.native_limit);
        let (lowest, room) = match running::stack() {
            Some(stack) if stack.contains(&address) => {
                let room = (stack.len() / IS_LARGE).clamp(ROOM, MUCH_ROOM);
                (by_limit.max(stack.start + room), room)
            }
            _ => (by_limit, ROOM),
        };
        self.lowest.set(lowest);
        self.room.set(room);
    }

    /// Lends calls half of what is left of the machine's stack, and some slots more, so that somebody can be told that the stack has
    /// overflowed. `None` if no call is active, or this is lent already.
    pub(crate) fn lend(&self) -> Option<Lent<'_>> {
        if !self.is_in_use() || self.is_handled.replace(true) {
            return None;
        }
        let lent = Lent { stack: self, lowest: self.lowest.get(), capacity: self.capacity.get() };
        self.lowest.set(lent.lowest.saturating_sub(self.room.get() / 2));
        self.capacity.set(lent.capacity + if self.has_memory { SPARE_SLOTS } else { 0 });
        Some(lent)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.stack.lowest.set(self.lowest);
        self.stack.capacity.set(self.capacity);
        self.stack.is_handled.set(false);
    }
}

impl Drop for FrameStack {
    fn drop(&mut self) {
        let Some(layout) = self.layout else { return };
        // SAFETY: `new` made this allocation with this layout, and no frame borrows it any more.
        unsafe { dealloc(self.slots.cast(), layout) };
    }
}

impl TakenFrame<'_> {
    /// The address of the first slot.
    pub(crate) fn slots(&self) -> *mut u64 {
        // SAFETY: `first` is within the allocation or one past it (a frame without slots).
        unsafe { self.stack.slots.add(self.first) }
    }
}

impl Drop for TakenFrame<'_> {
    fn drop(&mut self) {
        self.stack.top.set(self.first);
        self.stack.depth.set(self.stack.depth.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_given_back_in_order_and_room_is_bounded() {
        let stack = FrameStack::new(10, 1 << 20);
        let outer = stack.enter(4, here()).expect("there is room");
        {
            let inner = stack.enter(6, here()).expect("there is room");
            assert_eq!(inner.slots(), outer.slots().wrapping_add(4));
            assert_eq!(stack.enter(1, here()).err(), Some(Error::StackOverflow));
        }
        assert!(stack.enter(6, here()).is_ok());
        assert!(stack.enter(7, here()).is_err());
    }

    #[test]
    fn a_frame_starts_zeroed() {
        let stack = FrameStack::new(4, 1 << 20);
        let frame = stack.enter(4, here()).expect("there is room");
        // SAFETY: the frame has four slots.
        unsafe { frame.slots().add(2).write(7) };
        drop(frame);
        let frame = stack.enter(4, here()).expect("there is room");
        // SAFETY: as above.
        assert_eq!(unsafe { frame.slots().add(2).read() }, 0);
    }

    #[test]
    fn deep_native_recursion_is_refused() {
        fn recurse(stack: &FrameStack, depth: u32) -> u32 {
            let Ok(_frame) = stack.enter(1, here()) else { return depth };
            recurse(stack, depth + 1) + std::hint::black_box(0)
        }
        let stack = FrameStack::new(1 << 20, 64 << 10);
        let depth = recurse(&stack, 0);
        assert!((50..64 << 10).contains(&depth), "{depth}");
        // The engine's limit does not help where the thread has less stack.
        let stack = FrameStack::new(1 << 20, 64 << 20);
        assert!(recurse(&stack, 0) > depth);
        let frame = stack.enter(1, here());
        assert!(frame.is_ok() && stack.demand(32 << 20).is_err());
    }
}
