//! The heap: memory for objects, and its collector.
//!
//! In: requests for objects, and roots at the points where the collector may work. Out: objects, which stay where they are, and are
//! freed when nothing refers to them. `collect` says how garbage is found; `blocks` is the memory.

pub use super::collect::{CollectorStatistics, Eagerness};
pub use super::header::{Gc, Header, ObjectKind, color};
pub use super::mark::{Marker, Trace};

use super::blocks::Blocks;
use super::collect;
pub(crate) use super::collect::Collector;
use crate::object::function::Definition;
use crate::object::shape::Shapes;
use crate::object::string::{Str, Strings};
use crate::object::table::Table;
use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// Ends the process, since the system has no memory.
#[cold]
pub(super) fn refused(bytes: usize) -> ! {
    handle_alloc_error(Layout::from_size_align(bytes, 1).expect("no object is larger than memory"))
}

/// All objects of a program.
pub struct Heap {
    pub(crate) strings: Strings,
    pub(crate) shapes: Shapes,
    /// Grows when a table changes its keys from which others inherit.
    pub(crate) epoch: u64,
    pub(super) blocks: Blocks,
    pub(crate) collector: Collector,
    /// The definitions of functions, by number.
    pub(super) definitions: Vec<Option<Gc<Definition>>>,
    /// The numbers of the functions whose definitions are gone.
    pub(super) gone: Rc<RefCell<Vec<u32>>>,
    /// Objects that stay as long as the heap.
    pub(super) kept: Vec<Gc<Header>>,
    /// The string `__mode`, by which tables say that they are weak.
    pub(super) mode: Option<Gc<Str>>,
    /// The string `__gc`, by which metatables of userdata have finalizers.
    pub(super) gc_name: Option<Gc<Str>>,
    /// Values of Rust that userdata had which are gone.
    pub(super) lost_values: Vec<Box<dyn Any>>,
}

impl Heap {
    /// A heap for a program.
    pub fn new() -> Heap {
        let mut heap = Heap {
            strings: Strings::new(),
            shapes: Shapes::new(),
            epoch: 0,
            blocks: Blocks::new(),
            collector: Collector::default(),
            definitions: Vec::new(),
            gone: Rc::default(),
            kept: Vec::new(),
            mode: None,
            gc_name: None,
            lost_values: Vec::new(),
        };
        heap.mode = Some(heap.permanent_string(b"__mode"));
        heap.shapes.mode = heap.mode;
        heap.gc_name = Some(heap.permanent_string(b"__gc"));
        heap
    }

    /// How many bytes all objects take.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes
    }

    /// Memory for an object, whose header has to be written. Ends the process if the system has none: see [`try_allocate`](Heap::try_allocate).
    #[inline]
    pub(crate) fn allocate(&mut self, bytes: usize) -> *mut u8 {
        self.try_allocate(bytes).unwrap_or_else(|| refused(bytes))
    }

    /// Likewise; nothing if the object is large, and the system has no such memory. So it is for objects whose size a program chooses.
    #[inline]
    pub(crate) fn try_allocate(&mut self, bytes: usize) -> Option<*mut u8> {
        self.collector.debt += bytes as isize;
        let garbage = self.garbage_color();
        let Heap { blocks, strings, lost_values, .. } = self;
        blocks.allocate(bytes, |object| collect::is_garbage(object, garbage, strings, lost_values))
    }

    /// Makes a large object larger; returns where it is now, if there is memory.
    pub(super) fn grow(&mut self, object: Gc<Header>, bytes: usize) -> Option<Gc<Header>> {
        self.collector.debt += bytes as isize / 2;
        // SAFETY: the object is there.
        self.blocks.grow(object.pointer(), bytes).map(|grown| unsafe { Gc::of(grown) })
    }

    /// Counts memory that an object of this size has elsewhere towards the next step of the collector.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.collector.debt += bytes as isize;
    }

    /// Gives back an object that nothing refers to.
    pub(crate) fn free(&mut self, object: Gc<Header>, bytes: usize) {
        self.blocks.free(object.pointer(), bytes);
    }

    /// Takes a value of Rust that nothing refers to any more. To drop it may use the program, so that is left to whoever can stand that.
    pub(crate) fn take_lost_value(&mut self) -> Option<Box<dyn Any>> {
        self.lost_values.pop()
    }

    /// Whether there are such values.
    pub(crate) fn has_lost_values(&self) -> bool {
        !self.lost_values.is_empty()
    }

    /// Keeps an object as long as the heap is there.
    pub(crate) fn keep(&mut self, object: Gc<Header>) {
        if !self.kept.contains(&object) {
            self.kept.push(object);
        }
    }

    /// The color of objects that were not reached in this cycle.
    pub(crate) fn white(&self) -> u8 {
        self.collector.white
    }

    /// The color of objects that were not reached in the last cycle, and may be left.
    pub(crate) fn garbage_color(&self) -> u8 {
        self.collector.white ^ 1
    }

    /// Called when the keys of a table change, or its metatable.
    pub(crate) fn keys_change(&mut self, table: Gc<Table>) {
        if table.header().has(Table::PROTOTYPE) {
            self.epoch += 1;
        }
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // What Rust values hold is given back.
        let Heap { blocks, lost_values, .. } = self;
        blocks.each(|object| collect::finish(object, lost_values));
    }
}
