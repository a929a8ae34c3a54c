//! The collector: it marks what can be reached, a little at a time, and sweeps what is left.
//!
//! In: roots, at each step. Out: a heap without what nothing refers to. A step does work in proportion to what was allocated since the
//! last one, so pauses are short: the only work that is done at once is that on the roots, on objects that changed after they had been
//! marked, and on weak tables.
//!
//! | phase | what a step does | then |
//! | --- | --- | --- |
//! | `Pause` | nothing, until enough is allocated; then it marks the roots | `Mark` |
//! | `Mark` | traces gray objects; when there are none, the roots again, and what changed | `Sweep` |
//! | `Sweep` | frees white objects | `Pause` |
//!
//! **Invariant:** while marking, no black object refers to a white one, unless it is in the list of those that are traced again. Whoever
//! stores in a black object puts it there ([`Heap::again`]).

use super::header::{Gc, Header, ObjectKind, color};
use super::heap::Heap;
use crate::object::function::{Closure, Definition, Native, Pack, Userdata, VarCell};
use crate::object::string::Strings;
use crate::object::table::{HashPart, Table};
use crate::object::thread::Thread;
use crate::object::value::{STRING, Value};

/// What a step does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Pause,
    Mark,
    Sweep,
}

/// The state of the collector.
pub(crate) struct Collector {
    phase: Phase,
    /// The bytes that were allocated beyond what calls for a step; negative until then.
    pub(crate) debt: isize,
    pub(super) white: u8,
    gray: Vec<Gc<Header>>,
    /// Objects that changed after they had been marked.
    again: Vec<Gc<Header>>,
    /// Weak tables that were reached.
    weak: Vec<Gc<Table>>,
    /// Userdata whose metatable has `__gc`, in the order in which they got it.
    finalizable: Vec<Gc<Userdata>>,
    /// Userdata that nothing refers to, whose finalizers have not run.
    unfinalized: Vec<Gc<Userdata>>,
    /// How many percent of the live bytes there are when the next cycle starts.
    pub(super) pause: usize,
    /// How much faster than the program the collector works, in percent.
    pub(super) speed: usize,
    /// More bytes than this are not to be alive.
    limit: usize,
    /// Whether each step is a whole cycle, and the next one is due at once.
    is_eager: bool,
}

/// The bytes that are allocated between two steps.
const STEP: isize = 16 << 10;

/// So many bytes need no collector.
const LEAST: usize = 256 << 10;

impl Default for Collector {
    fn default() -> Self {
        Collector {
            phase: Phase::Pause,
            debt: -(LEAST as isize),
            white: color::WHITE,
            gray: Vec::new(),
            again: Vec::new(),
            weak: Vec::new(),
            finalizable: Vec::new(),
            unfinalized: Vec::new(),
            pause: 200,
            speed: 200,
            limit: usize::MAX,
            is_eager: false,
        }
    }
}

/// What refers to objects, and is no object itself.
pub trait Trace {
    /// Marks all that this refers to.
    fn trace(&self, marker: &mut Marker<'_>);
}

/// Takes what is reached.
pub struct Marker<'a> {
    white: u8,
    gray: &'a mut Vec<Gc<Header>>,
    definitions: &'a [Option<Gc<Definition>>],
}

impl Marker<'_> {
    /// A value was reached.
    pub fn value(&mut self, value: Value) {
        if value.0 >= STRING
            && let Some(object) = value.header()
        {
            self.object(object);
        }
    }

    /// An object was reached.
    pub fn object(&mut self, object: Gc<Header>) {
        if object.color.get() != self.white {
            return;
        }
        match object.kind() {
            ObjectKind::String => object.color.set(color::BLACK),
            _ => {
                object.color.set(color::GRAY);
                self.gray.push(object);
            }
        }
    }

    /// A function of this number runs.
    pub fn function(&mut self, number: u32) {
        if let Some(Some(definition)) = self.definitions.get(number as usize) {
            self.object(definition.header());
        }
    }

    /// Memory was reached that belongs to one object, which traces what is in it.
    fn memory(&mut self, object: Gc<Header>) {
        object.color.set(color::BLACK);
    }
}

/// Whether an object is garbage, which is finished then.
pub(super) fn is_garbage(object: *mut Header, garbage: u8, strings: &mut Strings) -> bool {
    // SAFETY: the object is there.
    let header = unsafe { &*object };
    if header.color.get() != garbage {
        // What was marked is white for the next cycle.
        header.color.set(garbage ^ 1);
        return false;
    }
    if header.kind() == ObjectKind::String {
        // SAFETY: the object is a string.
        strings.remove(unsafe { Gc::of(object.cast()) });
    }
    finish(object);
    true
}

/// Gives back what an object holds that is not on the heap.
pub(super) fn finish(object: *mut Header) {
    // SAFETY: the object is there, and of its kind; it is not used afterwards.
    unsafe {
        match (*object).kind() {
            ObjectKind::Userdata => std::ptr::drop_in_place(object.cast::<Userdata>()),
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

    /// Lets the collector work again: a step is due.
    pub fn restart(&mut self) {
        self.collector.debt = self.collector.debt.max(0);
    }

    /// Lets the collector do a whole cycle whenever it may work, so that what is not reachable by mistake is found to be missing.
    pub fn set_eager(&mut self, is_eager: bool) {
        self.collector.is_eager = is_eager;
        self.collector.debt = self.collector.debt.max(is_eager as isize);
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

    /// Traces a black object again, because it has changed.
    pub(crate) fn again(&mut self, object: Gc<Header>) {
        if self.collector.phase == Phase::Mark {
            object.color.set(color::GRAY);
            self.collector.again.push(object);
        }
    }

    /// Does some work, in proportion to what was allocated. All that is not reachable from the roots may be freed.
    /// Returns whether that was the end of a cycle.
    pub fn step(&mut self, roots: &dyn Trace) -> bool {
        if self.collector.is_eager {
            self.collect(roots);
            return true;
        }
        self.step_for((STEP + self.collector.debt.max(0)) as usize, roots)
    }

    /// Does as much work as is due when so many bytes have been allocated. Returns whether that was the end of a cycle.
    pub fn step_for(&mut self, bytes: usize, roots: &dyn Trace) -> bool {
        let mut work = (bytes / 100 * self.collector.speed.max(25)) as isize;
        loop {
            work -= self.work(roots, work);
            if self.collector.phase == Phase::Pause {
                return true;
            }
            if work <= 0 {
                self.collector.debt = -STEP;
                return false;
            }
        }
    }

    /// Does a whole cycle.
    pub fn collect(&mut self, roots: &dyn Trace) {
        // What was reached so far may be garbage by now: a cycle that has begun is brought to its end first.
        while self.collector.phase != Phase::Pause {
            self.work(roots, isize::MAX);
        }
        self.work(roots, isize::MAX);
        while self.collector.phase != Phase::Pause {
            self.work(roots, isize::MAX);
        }
    }

    /// Does one piece of work; returns how much it was.
    fn work(&mut self, roots: &dyn Trace, budget: isize) -> isize {
        match self.collector.phase {
            Phase::Pause => {
                self.mark_roots(roots);
                self.collector.phase = Phase::Mark;
                0
            }
            Phase::Mark => {
                let done = self.trace_gray(budget);
                if self.collector.gray.is_empty() {
                    self.finish_marking(roots);
                }
                done
            }
            Phase::Sweep => {
                let (garbage, strings) = (self.garbage_color(), &mut self.strings);
                let before = self.blocks.bytes;
                if self.blocks.sweep_some(&mut |object| is_garbage(object, garbage, strings)) {
                    self.begin_pause();
                }
                (1 << 13) + (before - self.blocks.bytes.min(before)) as isize / 4
            }
        }
    }

    fn begin_pause(&mut self) {
        self.collector.phase = Phase::Pause;
        let bytes = self.blocks.bytes.max(LEAST);
        let next = bytes / 100 * self.collector.pause;
        self.collector.debt = match self.collector.is_eager {
            true => 1,
            false => -((next.min(self.collector.limit).saturating_sub(bytes)).max(STEP as usize) as isize),
        };
    }

    fn marker(&mut self) -> Marker<'_> {
        Marker { white: self.collector.white, gray: &mut self.collector.gray, definitions: &self.definitions }
    }

    fn mark_roots(&mut self, roots: &dyn Trace) {
        let kept = std::mem::take(&mut self.kept);
        let (white, gray) = (self.collector.white, &mut self.collector.gray);
        let mut marker = Marker { white, gray, definitions: &self.definitions };
        roots.trace(&mut marker);
        kept.iter().for_each(|object| marker.object(*object));
        self.shapes.each_key(|key| marker.object(key.header()));
        self.collector.unfinalized.iter().for_each(|userdata| marker.object(userdata.header()));
        self.kept = kept;
    }

    /// Traces gray objects up to an amount of work; returns how much it was.
    fn trace_gray(&mut self, budget: isize) -> isize {
        let mut done = 0;
        while done < budget
            && let Some(object) = self.collector.gray.pop()
        {
            done += self.trace(object) as isize;
        }
        done
    }

    /// Traces an object: it is black then. Returns its size.
    fn trace(&mut self, object: Gc<Header>) -> usize {
        object.color.set(color::BLACK);
        // SAFETY: the object is of its kind.
        unsafe {
            match object.kind() {
                ObjectKind::Table => self.trace_table(object.cast()),
                ObjectKind::Closure => object.cast::<Closure>().trace(&mut self.marker()),
                ObjectKind::Definition => object.cast::<Definition>().trace(&mut self.marker()),
                ObjectKind::Native => object.cast::<Native>().trace(&mut self.marker()),
                ObjectKind::Cell => object.cast::<VarCell>().trace(&mut self.marker()),
                ObjectKind::Pack => object.cast::<Pack>().trace(&mut self.marker()),
                ObjectKind::Userdata => object.cast::<Userdata>().trace(&mut self.marker()),
                ObjectKind::Thread => {
                    // What is on its stack changes without a sign of it.
                    object.color.set(color::GRAY);
                    self.collector.again.push(object);
                    object.cast::<Thread>().trace(&mut self.marker())
                }
                ObjectKind::Free | ObjectKind::String | ObjectKind::Values | ObjectKind::Words => 0,
            }
        }
    }

    fn trace_table(&mut self, table: Gc<Table>) -> usize {
        let (weak_keys, weak_values) = self.weakness(table);
        let mut marker = self.marker();
        if let Some(metatable) = table.metatable() {
            marker.object(metatable.header());
        }
        table.each_memory(|memory| marker.memory(memory));
        if !weak_values {
            table.slot_values().iter().chain(table.elements()).for_each(|value| marker.value(value.get()));
        }
        let mut size = size_of::<Table>() + 8 * (table.slot_values().len() + table.elements().len());
        if let Some(hash) = table.hash.get() {
            size += hash.bytes();
            trace_entries(hash, &mut marker, weak_keys, weak_values);
        }
        if weak_keys || weak_values {
            self.collector.weak.push(table);
        }
        size
    }

    /// Whether a table's keys and values are weak.
    fn weakness(&self, table: Gc<Table>) -> (bool, bool) {
        let mode =
            table.metatable().zip(self.mode).and_then(|(meta, mode)| meta.get_string(mode).as_string());
        mode.map_or((false, false), |mode| (mode.bytes().contains(&b'k'), mode.bytes().contains(&b'v')))
    }

    /// Ends the marking: from here on what is white is garbage.
    fn finish_marking(&mut self, roots: &dyn Trace) {
        self.mark_roots(roots);
        self.collector.weak.iter().for_each(|table| table.header().color.set(color::GRAY));
        let weak = std::mem::take(&mut self.collector.weak);
        self.collector.gray.extend(weak.iter().map(|table| table.header()));
        let again = std::mem::take(&mut self.collector.again);
        self.collector.gray.extend(again);
        self.trace_gray(isize::MAX);
        self.find_finalizable();
        self.trace_gray(isize::MAX);
        self.collector.again.clear();
        let weak = std::mem::take(&mut self.collector.weak);
        weak.into_iter().for_each(|table| self.clear_weak(table));
        let white = self.collector.white;
        self.shapes.forget_meta(|table| table.header().color.get() == white);
        self.collector.white ^= 1;
        self.blocks.begin_sweep();
        self.collector.phase = Phase::Sweep;
    }

    /// Userdata with finalizers that nothing refers to are kept until these have run.
    fn find_finalizable(&mut self) {
        let white = self.collector.white;
        let is_lost = |userdata: &Gc<Userdata>| userdata.header().color.get() == white;
        let (mut lost, kept): (Vec<Gc<Userdata>>, Vec<Gc<Userdata>>) =
            std::mem::take(&mut self.collector.finalizable).into_iter().partition(is_lost);
        self.collector.finalizable = kept;
        lost.retain(|userdata| self.finalizer(*userdata).is_some());
        lost.iter().for_each(|userdata| userdata.set_finalized());
        let mut marker = self.marker();
        lost.iter().for_each(|userdata| marker.object(userdata.header()));
        self.collector.unfinalized.extend(lost);
    }

    /// Removes entries of a weak table whose key or value is garbage.
    fn clear_weak(&mut self, table: Gc<Table>) {
        let white = self.collector.white;
        let is_gone = |value: Value, is_key: bool| {
            let Some(object) = value.header() else { return false };
            if object.kind() == ObjectKind::String {
                // Strings count as values: they are kept.
                if object.color.get() == white {
                    object.color.set(color::BLACK);
                }
                return false;
            }
            let is_finalized = || {
                // SAFETY: the object is a userdata.
                let userdata = || unsafe { object.cast::<Userdata>() };
                !is_key && object.kind() == ObjectKind::Userdata && userdata().is_finalized()
            };
            object.color.get() == white || is_finalized()
        };
        let (weak_keys, weak_values) = self.weakness(table);
        if weak_values {
            for value in table.slot_values().iter().chain(table.elements()) {
                if is_gone(value.get(), false) {
                    value.set(Value::NIL);
                }
            }
        }
        let Some(hash) = table.hash.get() else { return };
        for entry in hash.entries() {
            let (key, value) = (entry.key.get(), entry.value.get());
            if value.is_nil() || weak_keys && is_gone(key, true) || weak_values && is_gone(value, false) {
                entry.value.set(Value::NIL);
            }
        }
    }

    /// Gives a userdata a metatable, or takes it.
    pub(crate) fn set_userdata_metatable(&mut self, userdata: Gc<Userdata>, metatable: Option<Gc<Table>>) {
        userdata.metatable.set(metatable);
        if userdata.header().color.get() == color::BLACK {
            self.again(userdata.header());
        }
        // Its metatable may get a finalizer later.
        if !userdata.is_finalized() && !self.collector.finalizable.contains(&userdata) {
            self.collector.finalizable.push(userdata);
        }
    }

    /// The finalizer that a userdata's metatable has.
    pub(crate) fn finalizer(&self, userdata: Gc<Userdata>) -> Option<Value> {
        let method = userdata.metatable.get()?.get_string(self.gc_name?);
        (!method.is_nil()).then_some(method)
    }

    /// Whether the finalizer of some userdata is to run.
    pub(crate) fn has_unfinalized(&self) -> bool {
        !self.collector.unfinalized.is_empty()
    }

    /// The next userdata whose finalizer is to run: those that got it last come first.
    pub(crate) fn next_unfinalized(&mut self) -> Option<Gc<Userdata>> {
        self.collector.unfinalized.pop()
    }

    /// All userdata with finalizers are to be finalized: the program ends.
    pub(crate) fn finalize_all(&mut self) {
        let all = std::mem::take(&mut self.collector.finalizable);
        all.iter().for_each(|userdata| userdata.set_finalized());
        self.collector.unfinalized.extend(all);
    }
}

/// Marks the entries of a hash part.
fn trace_entries(hash: Gc<HashPart>, marker: &mut Marker<'_>, weak_keys: bool, weak_values: bool) {
    for entry in hash.entries() {
        let (key, value) = (entry.key.get(), entry.value.get());
        // The key of an entry without a value may be freed. Its bits are only compared then.
        if value.is_nil() {
            continue;
        }
        if !weak_keys || key.as_string().is_some() {
            marker.value(key);
        }
        if !weak_values {
            marker.value(value);
        }
    }
}
