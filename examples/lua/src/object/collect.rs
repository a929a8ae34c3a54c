//! The collector: it marks what can be reached, a little at a time, and sweeps what is left.
//!
//! In: roots, at each step. Out: a heap without what nothing refers to. A step does work in proportion to what was allocated since the
//! last one, but never much, so pauses are short whatever is on the heap: what is left to do after a step is done by the next.
//!
//! | phase | what a step does | then |
//! | --- | --- | --- |
//! | `Pause` | nothing, until enough is allocated; then it marks the roots | `Mark` |
//! | `Mark` | goes on from what was reached (`mark`); when there is nothing, it looks whether all is marked | `Clear` |
//! | `Clear` | removes what is garbage from large weak tables (`weak`) | `Sweep` |
//! | `Sweep` | frees what was not reached: shapes, large objects, and blocks of objects | `Pause` |
//!
//! All is marked when the roots and what changed lead to no more than can be marked at once. If they lead to more, that is marked
//! a little at a time, too, and then is the next try. What is new since the last try is less each time, since the collector is faster
//! than the program. After some tries all the rest is marked at once.

use super::finalize::Finalizers;
use super::header::{Gc, Header, ObjectKind, color};
use super::heap::Heap;
use super::mark::{Ahead, Marker, Trace, Tracing, is_large};
use crate::object::function::{Definition, Userdata};
use crate::object::hash::HashPart;
use crate::object::shape::ShapeRef;
use crate::object::string::Strings;
use crate::object::table::Table;
use crate::object::thread::Thread;
use crate::object::value::Value;
use std::any::Any;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What a step does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Pause,
    Mark,
    Clear,
    Sweep,
}

/// What the collector does whenever it may work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Eagerness {
    /// What is due.
    #[default]
    None,
    /// The least step that there is: so that what changes between two steps of one cycle is found to be noticed.
    Steps,
    /// A whole cycle: so that what is not reachable by mistake is found to be missing.
    Cycles,
}

/// What the collector has done, and what is there.
///
/// ```
/// use azulejo_lua::api::Lua;
///
/// let lua = Lua::new();
/// lua.load("for i = 1, 1e5 do local t = { i } end").exec()?;
/// let statistics = lua.collector_statistics();
/// assert!(statistics.collections > 0 && statistics.steps > statistics.collections);
/// assert!(statistics.bytes < 4 << 20);
/// # Ok::<(), azulejo_lua::api::LuaError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CollectorStatistics {
    /// How many collections have ended.
    pub collections: u64,
    /// How many steps there were. A program waits for one at a time, unless it asks for a whole collection.
    pub steps: u64,
    /// The time of all that the collector did, finalizers apart.
    pub time: Duration,
    /// The time of the longest step.
    pub longest_step: Duration,
    /// The most work of a step, about as the bytes that were looked at.
    pub most_work: usize,
    /// The bytes of all objects that are there, garbage that was not freed yet included.
    pub bytes: usize,
    /// The most that were there when the collector began to work.
    pub most_bytes: usize,
}

/// The state of the collector.
pub(crate) struct Collector {
    phase: Phase,
    /// The bytes that were allocated beyond what calls for a step; negative until then.
    pub(crate) debt: isize,
    pub(crate) white: u8,
    pub(super) tracing: Tracing,
    pub(super) finalizers: Finalizers,
    /// Weak tables of which entries are to be removed, and how many of each have been looked at.
    pub(super) waiting: Vec<(Gc<Table>, u32)>,
    /// How often it was tried to end the marking.
    tries: u32,
    /// The work on frames when they were last marked.
    frames: usize,
    /// Whether the metatable of weak tables that were reached may have changed.
    has_mode_changed: bool,
    /// How many percent of the live bytes there are when the next cycle starts.
    pub(super) pause: usize,
    /// How much faster than the program the collector works, in percent.
    pub(super) speed: usize,
    /// More bytes than this are not to be alive.
    limit: usize,
    eagerness: Eagerness,
    pub(super) statistics: CollectorStatistics,
}

/// The bytes that are allocated between two steps.
const STEP: isize = 32 << 10;

/// The most work of a step, as bytes: that of a fraction of a millisecond.
const MOST_WORK: usize = 256 << 10;

/// The work of the least step: that on a few objects.
const LEAST_WORK: usize = 256;

/// As much may be left to mark when the marking ends.
const LAST_WORK: usize = 128 << 10;

/// After so many tries the marking ends, whatever is left to mark.
const MOST_TRIES: u32 = 16;

/// So many bytes need no collector.
const LEAST: usize = 512 << 10;

impl Default for Collector {
    fn default() -> Self {
        Collector {
            phase: Phase::Pause,
            debt: -(LEAST as isize),
            white: color::WHITE,
            tracing: Tracing::default(),
            finalizers: Finalizers::default(),
            waiting: Vec::new(),
            tries: 0,
            frames: 0,
            has_mode_changed: false,
            pause: 200,
            speed: 200,
            limit: usize::MAX,
            eagerness: Eagerness::None,
            statistics: CollectorStatistics::default(),
        }
    }
}

/// Whether an object is garbage, which is finished then.
#[inline(always)]
pub(super) fn is_garbage(
    object: *mut Header,
    garbage: u8,
    strings: &mut Strings,
    lost_values: &mut Vec<Box<dyn Any>>,
) -> bool {
    // SAFETY: the object is there.
    let header = unsafe { &*object };
    if header.color.get() != garbage {
        // What was marked is white for the next cycle.
        header.color.set(garbage ^ 1);
        return false;
    }
    match header.kind() {
        // SAFETY: the object is a string.
        ObjectKind::String => strings.remove(unsafe { Gc::of(object.cast()) }),
        ObjectKind::Userdata | ObjectKind::Thread | ObjectKind::Definition => finish(object, lost_values),
        _ => {}
    }
    true
}

/// Gives back what an object holds that is not on the heap. The value of a userdata is kept: what it does when it is dropped is not known.
pub(super) fn finish(object: *mut Header, lost_values: &mut Vec<Box<dyn Any>>) {
    // SAFETY: the object is there, and of its kind; it is not used afterwards.
    unsafe {
        match (*object).kind() {
            ObjectKind::Userdata => {
                lost_values.push(std::ptr::read(&raw const (*object.cast::<Userdata>()).value))
            }
            ObjectKind::Thread => std::ptr::drop_in_place(object.cast::<Thread>()),
            ObjectKind::Definition => std::ptr::drop_in_place(object.cast::<Definition>()),
            _ => {}
        }
    }
}

impl Heap {
    /// Whether a step is due.
    pub fn wants_step(&self) -> bool {
        self.collector.debt > 0
    }

    /// Stops the collector until it is started again, or until a step or a whole cycle is asked for, as in C's Lua.
    pub fn stop(&mut self) {
        self.collector.debt = isize::MIN / 2;
    }

    /// Whether nobody has started it since.
    pub fn is_stopped(&self) -> bool {
        self.collector.debt < isize::MIN / 4
    }

    /// Lets the collector work again: a step is due.
    pub fn restart(&mut self) {
        self.collector.debt = self.collector.debt.max(0);
    }

    /// Sets what the collector does whenever it may work.
    pub fn set_eagerness(&mut self, eagerness: Eagerness) {
        self.collector.eagerness = eagerness;
        self.collector.debt = self.collector.debt.max((eagerness != Eagerness::None) as isize);
    }

    /// Sets how many bytes may be alive; returns what it was. A step is due.
    pub fn set_limit(&mut self, bytes: usize) -> usize {
        self.collector.debt = self.collector.debt.max(1);
        std::mem::replace(&mut self.collector.limit, bytes)
    }

    /// How many bytes may be alive.
    pub fn limit(&self) -> usize {
        self.collector.limit
    }

    /// Whether there are more bytes than may be alive. Some may be garbage.
    pub fn is_too_large(&self) -> bool {
        self.bytes() > self.collector.limit
    }

    /// Sets how long the collector waits for the next cycle, and returns what it was, in percent.
    pub fn set_pause(&mut self, percent: usize) -> usize {
        std::mem::replace(&mut self.collector.pause, percent)
    }

    /// Sets how fast the collector works, and returns what it was, in percent.
    pub fn set_speed(&mut self, percent: usize) -> usize {
        std::mem::replace(&mut self.collector.speed, percent)
    }

    /// What the collector has done.
    pub fn statistics(&self) -> CollectorStatistics {
        CollectorStatistics { bytes: self.bytes(), ..self.collector.statistics }
    }

    /// Does some work, in proportion to what was allocated. All that is not reachable from the roots may be freed.
    /// Returns whether that was the end of a cycle.
    pub fn step(&mut self, roots: &dyn Trace) -> bool {
        let due = (STEP + self.collector.debt.max(0)) as usize;
        let ((is_end, work), time) = self.timed(|heap| match heap.collector.eagerness {
            Eagerness::None => heap.work_for(due, MOST_WORK, roots),
            Eagerness::Steps => heap.work_for(LEAST_WORK, LEAST_WORK, roots),
            Eagerness::Cycles => {
                heap.work_through(roots);
                (true, 0)
            }
        });
        if self.collector.eagerness != Eagerness::None {
            self.collector.debt = 1;
        }
        let statistics = &mut self.collector.statistics;
        statistics.steps += 1;
        statistics.longest_step = statistics.longest_step.max(time);
        statistics.most_work = statistics.most_work.max(work);
        is_end
    }

    /// Does as much work as is due when so many bytes have been allocated. Returns whether that was the end of a cycle.
    pub fn step_for(&mut self, bytes: usize, roots: &dyn Trace) -> bool {
        self.timed(|heap| heap.work_for(bytes, usize::MAX, roots)).0.0
    }

    /// Does what is due when so many bytes have been allocated, but not more than some work. Returns whether that was the end of
    /// a cycle, and how much work it was.
    fn work_for(&mut self, bytes: usize, most: usize, roots: &dyn Trace) -> (bool, usize) {
        let speed = self.collector.speed.max(25);
        let due = (bytes as u128 * speed as u128 / 100).min(most as u128) as usize;
        let mut done = 0;
        loop {
            done += self.work(roots, due.saturating_sub(done).max(1));
            if self.collector.phase == Phase::Pause {
                return (true, done);
            }
            if done >= due {
                // What was not done is due with the next step, which may be at once. Frames are marked all at once: that may have been
                // more than was due, and is paid for.
                self.collector.debt = bytes as isize - (done as u128 * 100 / speed as u128) as isize - STEP;
                return (false, done);
            }
        }
    }

    /// Does a whole cycle.
    pub fn collect(&mut self, roots: &dyn Trace) {
        self.timed(|heap| heap.work_through(roots));
    }

    /// Does some work; returns what that returns, and how long it took.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Heap) -> T) -> (T, Duration) {
        let (start, bytes) = (Instant::now(), self.bytes());
        let result = work(self);
        let time = start.elapsed();
        let statistics = &mut self.collector.statistics;
        statistics.time += time;
        statistics.most_bytes = statistics.most_bytes.max(bytes);
        (result, time)
    }

    fn work_through(&mut self, roots: &dyn Trace) {
        // What was reached so far may be garbage by now: a cycle that has begun is brought to its end first.
        while self.collector.phase != Phase::Pause {
            self.work(roots, usize::MAX);
        }
        self.work(roots, usize::MAX);
        while self.collector.phase != Phase::Pause {
            self.work(roots, usize::MAX);
        }
    }

    /// Does one piece of work, which is to be no more than some; returns how much it was.
    fn work(&mut self, roots: &dyn Trace, budget: usize) -> usize {
        match self.collector.phase {
            Phase::Pause => self.begin_marking(roots),
            Phase::Mark => {
                let white = self.white();
                if !self.collector.tracing.is_done() {
                    return self.marker().trace_some(budget);
                }
                if let Some(work) = self.collector.finalizers.look_at_some(white) {
                    return work;
                }
                self.try_to_finish(roots)
            }
            Phase::Clear => self.clear_some().unwrap_or_else(|| {
                self.begin_sweep();
                0
            }),
            Phase::Sweep => self.sweep_some().unwrap_or_else(|| {
                self.begin_pause();
                0
            }),
        }
    }

    /// Marks the roots; returns how much work that was.
    fn begin_marking(&mut self, roots: &dyn Trace) -> usize {
        self.collector.phase = Phase::Mark;
        self.collector.tries = 0;
        self.collector.finalizers.begin_marking();
        for shape in self.shapes.begin_marking() {
            self.marker().shape(shape);
        }
        self.mark_roots(roots)
    }

    /// Who takes what is reached.
    pub(super) fn marker(&mut self) -> Marker<'_> {
        Marker {
            white: self.collector.white,
            cycle: self.shapes.cycle,
            root: self.shapes.root(),
            tracing: &mut self.collector.tracing,
            definitions: &self.definitions,
            mode: self.mode,
            frames: 0,
            ahead: Ahead::default(),
        }
    }

    /// Marks what the program has in its frames and elsewhere; returns how much work that was. Only frames count, which may be many.
    fn mark_roots(&mut self, roots: &dyn Trace) -> usize {
        let kept = std::mem::take(&mut self.kept);
        let finalizers = std::mem::take(&mut self.collector.finalizers);
        let root = self.shapes.root();
        let mut marker = self.marker();
        roots.trace(&mut marker);
        kept.iter().for_each(|object| marker.object(*object));
        finalizers.unfinalized().for_each(|userdata| marker.object(userdata.header()));
        marker.shape(root);
        let work = marker.frames;
        self.collector.finalizers = finalizers;
        self.kept = kept;
        self.collector.frames = work;
        work
    }

    /// Ends the marking, if little is left to mark; returns how much was marked.
    fn try_to_finish(&mut self, roots: &dyn Trace) -> usize {
        self.collector.tries += 1;
        let most = if self.collector.tries > MOST_TRIES { usize::MAX } else { LAST_WORK };
        let frames = self.mark_roots(roots);
        let again = std::mem::take(&mut self.collector.tracing.again);
        self.collector.tracing.gray.extend(again);
        if std::mem::take(&mut self.collector.has_mode_changed) {
            // What was weak may not be any more.
            let weak = std::mem::take(&mut self.collector.tracing.weak);
            self.collector.tracing.gray.extend(weak.iter().map(|(table, _)| table.header()));
        }
        let white = self.white();
        let mut work = self.marker().trace_some(most);
        while work < most && self.collector.tracing.is_done() {
            if let Some(more) = self.collector.finalizers.look_at_some(white) {
                work += more;
            } else if self.find_finalizable() {
                work += self.marker().trace_some(most - work);
            } else {
                self.finish_marking();
                break;
            }
        }
        frames + work
    }

    /// All is marked: from here on what is white is garbage.
    fn finish_marking(&mut self) {
        debug_assert!(self.collector.tracing.is_done());
        self.collector.finalizers.end_marking();
        self.collector.waiting = self.clear_weak();
        self.collector.white ^= 1;
        self.shapes.begin_sweep();
        self.collector.phase = Phase::Clear;
    }

    fn begin_sweep(&mut self) {
        self.blocks.begin_sweep();
        self.collector.phase = Phase::Sweep;
    }

    /// Frees some of what was not reached; returns how much work that was, or `None` if all is swept.
    fn sweep_some(&mut self) -> Option<usize> {
        let garbage = self.garbage_color();
        let Heap { shapes, blocks, strings, lost_values, .. } = self;
        let mut is_garbage = |object| is_garbage(object, garbage, strings, lost_values);
        shapes.sweep_some().or_else(|| blocks.sweep_some(&mut is_garbage))
    }

    fn begin_pause(&mut self) {
        self.collector.phase = Phase::Pause;
        self.collector.statistics.collections += 1;
        let bytes = self.bytes().max(LEAST);
        // Where frames are many compared with objects, cycles are seldom, too.
        let next = bytes / 100 * self.collector.pause + self.collector.frames;
        let room = next.min(self.collector.limit).saturating_sub(bytes).max(STEP as usize);
        self.collector.debt = -(room as isize);
    }
}

/// What the collector has to know of what the program does.
impl Heap {
    /// The color of memory that is made for an object which may be black.
    pub(super) fn memory_color(&self) -> u8 {
        if self.collector.phase == Phase::Mark { color::BLACK } else { self.white() }
    }

    /// Called when a value was stored in a table.
    #[inline]
    pub(crate) fn wrote(&mut self, table: Gc<Table>, value: Value) {
        if table.header().color.get() == color::BLACK {
            self.wrote_black(table.header(), value);
        }
    }

    /// Called when a value was stored in a black object: that is traced again, or if it is large, the value stays for this cycle.
    pub(crate) fn wrote_black(&mut self, object: Gc<Header>, value: Value) {
        if self.collector.phase != Phase::Mark {
            return;
        }
        // SAFETY: the object is of its kind.
        match object.kind() == ObjectKind::Table && is_large(unsafe { object.cast() }) {
            true => self.marker().value(value),
            false => self.again(object),
        }
    }

    /// Called when an object has changed that is not large: it is traced again.
    pub(crate) fn again(&mut self, object: Gc<Header>) {
        if object.color.get() == color::BLACK && self.collector.phase == Phase::Mark {
            object.color.set(color::GRAY);
            self.collector.tracing.again.push(object);
        }
    }

    /// Called when a table was given a shape.
    #[inline]
    pub(super) fn reached_shape(&mut self, shape: ShapeRef) {
        if shape.reached().get() != self.shapes.cycle {
            // If it does not mark, the shape was made or found among those that were reached.
            self.marker().shape(shape);
        }
    }

    /// Called when a table has got another metatable.
    pub(super) fn metatable_changes(&mut self, table: Gc<Table>) {
        if table.header().color.get() == color::BLACK && self.collector.phase == Phase::Mark {
            // It may be weak, or may not be weak any more.
            table.header().color.set(color::GRAY);
            self.collector.tracing.gray.push(table.header());
        }
    }

    /// Called when a key of a table has got another value that may say how other tables are weak.
    pub(super) fn mode_changes(&mut self, table: Gc<Table>, key: Value) {
        let is_mode = self.mode.is_some_and(|mode| key == Value::string(mode));
        if is_mode && table.header().color.get() != self.white() && self.collector.phase == Phase::Mark {
            self.collector.has_mode_changed = true;
        }
    }

    /// Called when the elements of a table with these keys, all in the array, have changed places among themselves.
    pub(crate) fn elements_move(&mut self, table: Gc<Table>, keys: Range<usize>) {
        let large = &self.collector.tracing.large;
        if let Some(partly) = large.iter().find(|partly| partly.table == table) {
            // Where the collector does not look again there may be some now that it has not looked at. It has taken as long to move them.
            let moved = keys.start..keys.end.min(partly.element);
            let mut marker = self.marker();
            table.indexed().get(moved).into_iter().flatten().for_each(|element| marker.value(element.get()));
        }
    }

    /// Called when the entries of a table were put into another hash part, in their order.
    pub(super) fn entries_move(&mut self, table: Gc<Table>, before: Gc<HashPart>) {
        let large = &mut self.collector.tracing.large;
        if let Some(partly) = large.iter_mut().find(|partly| partly.table == table) {
            let looked_at = before.entries().iter().take(partly.entry);
            partly.entry = looked_at.filter(|entry| !before.value(entry).is_nil()).count();
        }
    }
}
