//! Shapes: which string keys tables have, and in which of their slots.
//!
//! In: the keys that a table gets, one after the other. Out: a [`Shape`], which tables that got the same keys in the same order share, if
//! their metatable is the same. So whoever knows a table's shape knows where its fields are, and which fields it does not have.
//!
//! Shapes are a tree. A child has one key more than its parent, or another metatable. Along a line of only children all share one
//! list of keys, and each sees as many as it has.
//!
//! Shapes are never freed, and there is a limit to their number. A table that cannot have a shape of its own, because it has too many
//! keys, or because there are too many shapes, keeps its string keys in its hash part: its shape says so.

use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::Table;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// How many string keys a table may have in slots.
pub const MAX_SLOTS: u32 = 512;

/// How many children a shape may have before keys count as data.
const MAX_CHILDREN: usize = 128;

/// How many shapes there may be.
const MAX_SHAPES: u32 = 1 << 20;

/// What is known of the metatable of tables of a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meta {
    /// They have none.
    None,
    /// They have this one.
    Known(Gc<Table>),
    /// They have one, but not all the same.
    Some,
}

/// The address of a shape. Shapes stay where they are, as long as the heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ShapeRef(&'static Shape);

/// The shape of some tables.
pub struct Shape {
    /// How many keys there are.
    count: u32,
    /// Whether string keys are in the hash part instead.
    is_dictionary: bool,
    meta: Meta,
    /// The first keys, by which slots are found if there are few.
    first: [Option<Gc<Str>>; FEW],
    keys: Rc<RefCell<Keys>>,
    children: RefCell<Children>,
}

/// What is known by string keys. Their addresses are spread well enough by a multiplication: nobody chooses them.
type ByString<T> = HashMap<Gc<Str>, T, BuildHasherDefault<AddressHasher>>;

/// Hashes one address.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_usize(&mut self, address: usize) {
        let product = u128::from(self.0 ^ address as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }
}

#[derive(Default)]
struct Children {
    by_key: ByString<ShapeRef>,
    by_meta: Vec<(Meta, ShapeRef)>,
    /// The dictionary with this metatable.
    dictionary: Option<ShapeRef>,
}

/// Keys in the order of their slots. Shapes of one line share it.
#[derive(Default)]
struct Keys {
    list: Vec<Gc<Str>>,
    slots: ByString<u32>,
}

/// All shapes of a heap.
pub struct Shapes {
    root: ShapeRef,
    all: RefCell<Vec<&'static Shape>>,
    count: Cell<u32>,
}

impl std::ops::Deref for ShapeRef {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        self.0
    }
}

impl fmt::Debug for ShapeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shape {:p} of {} keys", self.0, self.count)
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Shape {}

impl std::hash::Hash for Shape {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self).hash(state);
    }
}

impl Shape {
    /// How many string keys are in slots.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether string keys are in the hash part.
    pub fn is_dictionary(&self) -> bool {
        self.is_dictionary
    }

    /// What is known of the metatable.
    pub fn meta(&self) -> Meta {
        self.meta
    }

    /// The slot of a key.
    #[inline(always)]
    pub fn slot(&self, key: Gc<Str>) -> Option<u32> {
        match self.count as usize {
            0 => None,
            count @ 1..=FEW => {
                self.first[..count].iter().position(|known| *known == Some(key)).map(|at| at as u32)
            }
            _ => self.slot_of_many(key),
        }
    }

    fn slot_of_many(&self, key: Gc<Str>) -> Option<u32> {
        self.keys.borrow().slots.get(&key).copied().filter(|slot| *slot < self.count)
    }

    /// The key of a slot.
    pub fn key(&self, slot: u32) -> Option<Gc<Str>> {
        (slot < self.count).then(|| self.keys.borrow().list[slot as usize])
    }

    /// Visits all keys.
    pub fn each_key(&self, visit: impl FnMut(Gc<Str>)) {
        self.keys.borrow().list[..self.count as usize].iter().copied().for_each(visit);
    }
}

/// So many keys are looked at one by one.
const FEW: usize = 6;

impl ShapeRef {
    /// The address, which machine code compares.
    pub fn address(self) -> u64 {
        std::ptr::from_ref(self.0).addr() as u64
    }
}

impl Shapes {
    pub(crate) fn new() -> Shapes {
        let shape = Shape {
            count: 0,
            is_dictionary: false,
            meta: Meta::None,
            first: [None; FEW],
            keys: Rc::default(),
            children: RefCell::default(),
        };
        let all = RefCell::new(Vec::new());
        let root = kept(&all, shape);
        Shapes { root, all, count: Cell::new(1) }
    }

    /// The shape of a table without keys and metatable.
    pub fn root(&self) -> ShapeRef {
        self.root
    }

    fn make(&self, shape: Shape) -> ShapeRef {
        self.count.set(self.count.get() + 1);
        kept(&self.all, shape)
    }

    /// The shape of a table of this shape that gets another key; `None` if the key has to go to the hash part.
    pub fn with_key(&self, shape: ShapeRef, key: Gc<Str>) -> Option<ShapeRef> {
        if shape.is_dictionary || shape.count >= MAX_SLOTS {
            return None;
        }
        if let Some(child) = shape.children.borrow().by_key.get(&key) {
            return Some(*child);
        }
        if shape.children.borrow().by_key.len() >= MAX_CHILDREN || self.count.get() >= MAX_SHAPES {
            return None;
        }
        // The line goes on if nobody has gone on from here yet.
        let is_end = shape.keys.borrow().list.len() == shape.count as usize;
        let keys = if is_end { shape.keys.clone() } else { Rc::new(RefCell::new(first_of(&shape))) };
        {
            let mut keys = keys.borrow_mut();
            keys.list.push(key);
            keys.slots.insert(key, shape.count);
        }
        let mut first = shape.first;
        if let Some(place) = first.get_mut(shape.count as usize) {
            *place = Some(key);
        }
        let child = self.make(Shape {
            count: shape.count + 1,
            is_dictionary: false,
            meta: shape.meta,
            first,
            keys,
            children: RefCell::default(),
        });
        shape.children.borrow_mut().by_key.insert(key, child);
        Some(child)
    }

    /// Whether tables of this shape may get more shapes, one for each metatable.
    pub(crate) fn has_room_for_meta(&self, shape: ShapeRef) -> bool {
        let n_known = shape.children.borrow().by_meta.len().max(self.root.children.borrow().by_meta.len());
        n_known < MAX_CHILDREN && self.count.get() < MAX_SHAPES
    }

    /// The shape of a table of this shape that gets a metatable, or loses it.
    pub fn with_meta(&self, shape: ShapeRef, meta: Meta) -> ShapeRef {
        if shape.meta == meta {
            return shape;
        }
        if shape.is_dictionary {
            let root = self.with_meta(self.root, meta);
            return self.dictionary(root);
        }
        let known =
            shape.children.borrow().by_meta.iter().find(|(of, _)| *of == meta).map(|(_, child)| *child);
        if let Some(child) = known {
            return child;
        }
        // It does not matter whether a table gets its metatable before its keys.
        let root = match (meta, shape.count) {
            (Meta::None, _) => Some(self.root),
            (_, 0) => None,
            _ => Some(self.with_meta(self.root, meta)),
        };
        let keys: Vec<Gc<Str>> = shape.keys.borrow().list[..shape.count as usize].to_vec();
        let same =
            root.and_then(|root| keys.into_iter().try_fold(root, |shape, key| self.with_key(shape, key)));
        let child = same.unwrap_or_else(|| {
            self.make(Shape {
                count: shape.count,
                is_dictionary: false,
                meta,
                first: shape.first,
                keys: Rc::new(RefCell::new(first_of(&shape))),
                children: RefCell::default(),
            })
        });
        shape.children.borrow_mut().by_meta.push((meta, child));
        child
    }

    /// The shape of a table with this one's metatable that keeps its string keys in its hash part.
    pub fn dictionary(&self, shape: ShapeRef) -> ShapeRef {
        if shape.is_dictionary {
            return shape;
        }
        if let Some(known) = shape.children.borrow().dictionary {
            return known;
        }
        let child = self.make(Shape {
            count: 0,
            is_dictionary: true,
            meta: shape.meta,
            first: [None; FEW],
            keys: Rc::default(),
            children: RefCell::default(),
        });
        shape.children.borrow_mut().dictionary = Some(child);
        child
    }

    /// Forgets how tables get a metatable, which is garbage. No table has a shape that leads to it.
    pub(crate) fn forget_meta(&self, gone: impl Fn(Gc<Table>) -> bool) {
        for shape in &*self.all.borrow() {
            let is_there = |meta: &Meta| !matches!(meta, Meta::Known(table) if gone(*table));
            shape.children.borrow_mut().by_meta.retain(|(meta, _)| is_there(meta));
        }
    }

    /// Visits all keys of all shapes.
    pub(crate) fn each_key(&self, mut visit: impl FnMut(Gc<Str>)) {
        for shape in &*self.all.borrow() {
            shape.children.borrow().by_key.keys().copied().for_each(&mut visit);
        }
    }
}

/// Puts a shape where it stays until all are dropped.
fn kept(all: &RefCell<Vec<&'static Shape>>, shape: Shape) -> ShapeRef {
    let shape: &'static Shape = Box::leak(Box::new(shape));
    all.borrow_mut().push(shape);
    ShapeRef(shape)
}

impl Drop for Shapes {
    fn drop(&mut self) {
        for shape in self.all.take() {
            // SAFETY: it comes from a box, and the tables that refer to it are gone.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(shape).cast_mut()) });
        }
    }
}

/// The keys of a shape by themselves.
fn first_of(shape: &Shape) -> Keys {
    let list: Vec<Gc<Str>> = shape.keys.borrow().list[..shape.count as usize].to_vec();
    let slots = list.iter().copied().zip(0..).collect();
    Keys { list, slots }
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shapes", self.count.get())
    }
}
