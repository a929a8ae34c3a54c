//! Marking: what can be reached from what has been reached.
//!
//! In: objects that were reached. Out: those that they refer to. Work is counted about as the bytes that are looked at, and may be
//! stopped after any amount: tables that are large are looked at in portions.
//!
//! **Invariant:** a black object refers to no white one, but for what a large table has behind the place up to which it was looked at,
//! and what is weak. Whoever stores in a black object makes it gray, to be traced again when all else is; of a large table, which would
//! take long, what is stored is marked instead. Whoever moves what is in a table from behind that place to the front of it says so.

use super::header::{Gc, Header, ObjectKind, color};
use crate::object::function::{Closure, Definition, Native, Pack, Userdata, VarCell};
use crate::object::hash::{HashPart, Weakness};
use crate::object::shape::{Meta, ShapeRef};
use crate::object::string::Str;
use crate::object::table::Table;
use crate::object::thread::Thread;
use crate::object::value::{STRING, Value};

/// How many objects are fetched at once.
const AHEAD: usize = 8;

/// How many elements or entries of a table are looked at at once.
pub(super) const PORTION: usize = 1024;

/// The work on a frame, beside that on its registers: its roots have to be found.
const FRAME: usize = 64;

/// What refers to objects, and is no object itself.
pub trait Trace {
    /// Marks all that this refers to.
    fn trace(&self, marker: &mut Marker<'_>);
}

/// A table of which only some was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartlyTraced {
    pub(super) table: Gc<Table>,
    weakness: Weakness,
    /// The elements and entries in front of these were looked at.
    pub(super) element: usize,
    pub(super) entry: usize,
}

/// What marking has to come back to.
#[derive(Default)]
pub(super) struct Tracing {
    pub(super) gray: Vec<Gc<Header>>,
    pub(super) large: Vec<PartlyTraced>,
    shapes: Vec<ShapeRef>,
    /// Objects that changed after they had been marked. They are gray.
    pub(super) again: Vec<Gc<Header>>,
    /// Weak tables that were reached, and what of each is weak.
    pub(super) weak: Vec<(Gc<Table>, Weakness)>,
}

impl Tracing {
    /// Whether there is nothing to go on with.
    pub(super) fn is_done(&self) -> bool {
        self.gray.is_empty() && self.large.is_empty() && self.shapes.is_empty()
    }
}

/// Takes what is reached.
pub struct Marker<'a> {
    pub(super) white: u8,
    pub(super) cycle: u32,
    pub(super) root: ShapeRef,
    pub(super) tracing: &'a mut Tracing,
    pub(super) definitions: &'a [Option<Gc<Definition>>],
    pub(super) mode: Option<Gc<Str>>,
    /// The bytes of frames that were looked at since this was asked for.
    pub(super) frames: usize,
    /// Objects that were reached and are on their way from memory. Empty but while tables are traced.
    pub(super) ahead: Ahead,
}

/// Some objects that were reached, of which the first is looked at when the last is fetched.
#[derive(Default)]
pub(super) struct Ahead {
    objects: [Option<Gc<Header>>; AHEAD],
    next: usize,
}

/// Lets the processor fetch an object.
#[inline(always)]
fn fetch(object: Gc<Header>) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it does nothing but fetch.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(object.pointer().cast());
    }
    // Other processors find it themselves.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
}

impl Marker<'_> {
    /// A value was reached.
    #[inline(always)]
    pub fn value(&mut self, value: Value) {
        if value.0 >= STRING
            && let Some(object) = value.header()
        {
            self.object(object);
        }
    }

    /// An object was reached.
    #[inline(always)]
    pub fn object(&mut self, object: Gc<Header>) {
        if object.color.get() != self.white {
            return;
        }
        match object.kind() {
            ObjectKind::String => object.color.set(color::BLACK),
            _ => {
                object.color.set(color::GRAY);
                self.tracing.gray.push(object);
            }
        }
    }

    /// A value of a table was reached. What it refers to is looked at a little later.
    #[inline(always)]
    fn table_value(&mut self, value: Value) {
        if value.0 >= STRING
            && let Some(object) = value.header()
        {
            fetch(object);
            let place = &mut self.ahead.objects[self.ahead.next % AHEAD];
            self.ahead.next += 1;
            if let Some(before) = place.replace(object) {
                self.object(before);
            }
        }
    }

    /// Looks at what is on its way.
    fn catch_up(&mut self) {
        for object in std::mem::take(&mut self.ahead.objects).into_iter().flatten() {
            self.object(object);
        }
    }

    /// A function of this number runs, which has these values in registers that are alive.
    pub fn frame(&mut self, number: u32, registers: impl Iterator<Item = Value>) {
        self.frames += FRAME;
        for value in registers {
            self.frames += size_of::<Value>();
            self.value(value);
        }
        if let Some(Some(definition)) = self.definitions.get(number as usize) {
            self.object(definition.header());
        }
    }

    /// A shape was reached.
    #[inline(always)]
    pub(super) fn shape(&mut self, shape: ShapeRef) {
        if shape.reached().get() != self.cycle {
            shape.reached().set(self.cycle);
            self.tracing.shapes.push(shape);
        }
    }

    /// Goes on up to an amount of work; returns how much it was.
    pub(super) fn trace_some(&mut self, budget: usize) -> usize {
        let mut done = 0;
        while done < budget {
            if let Some(object) = self.tracing.gray.pop() {
                done += self.trace(object);
            } else if let Some(shape) = self.tracing.shapes.pop() {
                done += self.trace_shape(shape);
            } else if let Some(partly) = self.tracing.large.pop() {
                done += self.trace_portion(partly);
            } else {
                self.catch_up();
                if self.tracing.gray.is_empty() {
                    break;
                }
            }
        }
        self.catch_up();
        done
    }

    /// Traces an object: it is black then. Returns how much work that was.
    fn trace(&mut self, object: Gc<Header>) -> usize {
        object.color.set(color::BLACK);
        // SAFETY: the object is of its kind.
        unsafe {
            match object.kind() {
                ObjectKind::Table => self.trace_table(object.cast()),
                ObjectKind::Closure => object.cast::<Closure>().trace(self),
                ObjectKind::Definition => object.cast::<Definition>().trace(self),
                ObjectKind::Native => object.cast::<Native>().trace(self),
                ObjectKind::Cell => object.cast::<VarCell>().trace(self),
                ObjectKind::Pack => object.cast::<Pack>().trace(self),
                ObjectKind::Userdata => object.cast::<Userdata>().trace(self),
                ObjectKind::Thread => object.cast::<Thread>().trace(self),
                ObjectKind::Free | ObjectKind::String | ObjectKind::Values | ObjectKind::Words => 0,
            }
        }
    }

    fn trace_shape(&mut self, shape: ShapeRef) -> usize {
        let mut work = size_of::<ShapeRef>();
        if let Some(key) = shape.last_key() {
            self.object(key.header());
        }
        if let Meta::Known(metatable) = shape.meta() {
            self.object(metatable.header());
        }
        if let Some(parent) = shape.parent {
            self.shape(parent);
        }
        shape.each_lasting(|child| {
            work += size_of::<ShapeRef>();
            self.shape(child);
        });
        work
    }

    fn trace_table(&mut self, table: Gc<Table>) -> usize {
        self.shape(table.shape.get());
        if table.header().has(Table::METATABLE)
            && let Some(of_class) = self.root.of_class(table)
        {
            // Objects of a class come and go. What code has learned of them is true as long as the class is there.
            self.shape(of_class);
        }
        let mut weakness = Weakness::default();
        if let Some(metatable) = table.metatable() {
            self.object(metatable.header());
            weakness = weakness_by(metatable, self.mode);
            if weakness != Weakness::default() {
                self.tracing.weak.push((table, weakness));
            }
        }
        // What belongs to the table alone is not looked at by itself.
        table.each_memory(|memory| memory.color.set(color::BLACK));
        let (slots, elements) = (table.slot_values(), table.indexed());
        if !weakness.values {
            slots.iter().for_each(|value| self.table_value(value.get()));
        }
        let work = size_of::<Table>() + size_of_val(slots);
        let entries = table.hash.get().map_or(0, |hash| hash.entries().len());
        if entries == 0 && elements.len() <= PORTION {
            if !weakness.values {
                elements.iter().for_each(|value| self.table_value(value.get()));
            }
            return work + size_of_val(elements);
        }
        self.tracing.large.retain(|partly| partly.table != table);
        work + self.trace_portion(PartlyTraced { table, weakness, element: 0, entry: 0 })
    }

    /// Looks at some more of a table; returns how much work that was.
    fn trace_portion(&mut self, partly: PartlyTraced) -> usize {
        let PartlyTraced { table, weakness, element, entry } = partly;
        let elements = table.indexed();
        let element_end = (element + PORTION).min(elements.len()).max(element);
        // What is weak is not marked, and is looked at when all else is.
        if !weakness.values {
            elements.iter().take(element_end).skip(element).for_each(|value| self.table_value(value.get()));
        }
        let mut work = (element_end - element) * size_of::<Value>();
        let (mut entry_end, mut is_end) = (entry, element_end >= elements.len());
        if is_end && let Some(hash) = table.hash.get() {
            let n_entries = hash.entries().len();
            entry_end = (entry + PORTION).min(n_entries).max(entry);
            self.trace_entries(hash, (entry, entry_end), weakness);
            work += (entry_end - entry) * 3 * size_of::<Value>();
            is_end = entry_end >= n_entries;
        }
        if !is_end {
            self.tracing.large.push(PartlyTraced { element: element_end, entry: entry_end, ..partly });
        }
        work + size_of::<PartlyTraced>()
    }

    /// Marks some entries of a hash part.
    fn trace_entries(&mut self, hash: Gc<HashPart>, (from, to): (usize, usize), weakness: Weakness) {
        for entry in hash.entries().iter().take(to).skip(from) {
            let (key, value) = (entry.key.get(), entry.value.get());
            // The key of an entry without a value may be freed. Its bits are only compared then.
            if value.is_nil() {
                continue;
            }
            // Strings count as values: they are never removed from weak tables.
            if !weakness.keys || key.as_string().is_some() {
                self.table_value(key);
            }
            if !weakness.values || value.as_string().is_some() {
                self.table_value(value);
            }
        }
    }
}

/// Whether a table is looked at in portions.
pub(super) fn is_large(table: Gc<Table>) -> bool {
    let entries = table.hash.get().map_or(0, |hash| hash.entries().len());
    table.indexed().len().max(entries) > PORTION
}

/// What is weak in tables that have this metatable.
pub(super) fn weakness_by(metatable: Gc<Table>, mode: Option<Gc<Str>>) -> Weakness {
    if !metatable.shape.get().may_have_mode() {
        return Weakness::default();
    }
    let mode = mode.and_then(|mode| metatable.get_string(mode).as_string());
    let has = |letter: u8| mode.is_some_and(|mode| mode.bytes().contains(&letter));
    Weakness { keys: has(b'k'), values: has(b'v') }
}
