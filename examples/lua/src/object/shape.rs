//! Shapes: which string keys tables have, and in which of their slots.
//!
//! In: the keys that a table gets, one after the other. Out: a [`Shape`], which tables that got the same keys in the same order share, if
//! their metatable is the same. So whoever knows a table's shape knows where its fields are, and which fields it does not have.
//!
//! Shapes are a tree. A child has one key more than its parent, or another metatable. Along a line of only children all share one
//! list of keys, and each sees as many as it has.
//!
//! There is a limit to the number of shapes. A table that cannot have a shape of its own, because it has too many keys, or because there
//! are too many shapes, keeps its string keys in its hash part: its shape says so.
//!
//! A shape is freed when no table has it, nor one of those below it, and its metatable is gone, or it has none and there are many
//! shapes. Code that runs may still compare with it, or give it to a table:
//!
//! **Invariants:** no two shapes are equal as words, even if one of them has been freed long ago: a word has the address, and how many
//! shapes were there before. A shape that code gives to tables of its parent is there as long as its parent
//! ([`Heap::learn_shape`](super::heap::Heap::learn_shape)). The metatable of a shape is there as long as the shape. `shape_life` has what frees shapes.

use super::shape_life::ShapeCell;
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::Table;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU64;
use std::rc::Rc;

/// So many shapes are few: they stay, so that code does not have to learn of them again and again.
const FEW_SHAPES: usize = 4096;

/// How many string keys a table may have in slots.
pub const MAX_SLOTS: u32 = 512;

/// How many children a shape may have before keys count as data.
const MAX_CHILDREN: usize = 128;

/// The same where there are many shapes, for one that has a key: those of tables that get the same keys in any order would be as many as the
/// orders.
const FEW_CHILDREN: usize = 4;

/// How many shapes there may be.
const MAX_SHAPES: usize = 1 << 20;

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

/// A shape, as a word that machine code compares: its address, and in the upper bits how many shapes have been at that address before.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ShapeRef(NonZeroU64);

/// The shape of some tables.
pub struct Shape {
    /// How many keys there are.
    count: u32,
    /// Whether string keys are in the hash part instead.
    is_dictionary: bool,
    /// Whether a key says that tables are weak, for all that the shape knows.
    may_have_mode: bool,
    meta: Meta,
    /// The first keys, by which slots are found if there are few.
    first: [Option<Gc<Str>>; FEW],
    keys: Rc<RefCell<Keys>>,
    children: RefCell<Children>,
    /// Whether code gives it to tables of its parent.
    is_learned: Cell<bool>,
    /// If it has no keys: room for so many slots its tables have needed that were made with less.
    wanted: Cell<u32>,
    /// The shape that it was made from, if it was made from one.
    pub(super) parent: Option<ShapeRef>,
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

/// What tables of a shape become. Some of it may have been freed.
#[derive(Default)]
struct Children {
    by_key: ByString<ShapeRef>,
    /// Those by keys that code gives to tables. They are as long there as this shape.
    learned: Vec<ShapeRef>,
    by_class: HashMap<Gc<Table>, ShapeRef, BuildHasherDefault<AddressHasher>>,
    /// So many metatables may be known before those are forgotten whose shapes are gone.
    many_classes: usize,
    without_meta: Option<ShapeRef>,
    with_some_meta: Option<ShapeRef>,
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
    /// The key by which metatables make tables weak.
    pub(super) mode: Option<Gc<Str>>,
    /// All shapes that are there.
    pub(super) all: Vec<ShapeRef>,
    /// Where shapes were, and may be again.
    pub(super) vacant: Vec<*mut ShapeCell>,
    /// Where shapes are, or were.
    pub(super) cells: Vec<*mut ShapeCell>,
    /// The cycle of the collector. What was reached in it is not freed.
    pub(crate) cycle: u32,
    /// Whether what was not reached in this cycle may be reached yet.
    pub(super) is_marking: bool,
    /// Shapes from here on are not looked at in this cycle.
    pub(super) next: usize,
    /// If there are no more shapes, those without a metatable stay.
    pub(super) few: usize,
}

impl std::ops::Deref for ShapeRef {
    type Target = Shape;

    #[inline(always)]
    fn deref(&self) -> &Shape {
        // SAFETY: who has a shape has it from a table, or from a shape that is there.
        unsafe { (*self.cell()).shape_of(*self) }
    }
}

impl fmt::Debug for ShapeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shape {:#x} of {} keys", self.0, self.count)
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

    /// Whether a table of this shape may say that tables are weak whose metatable it is.
    pub(super) fn may_have_mode(&self) -> bool {
        self.may_have_mode
    }

    /// The last key, if there is any in a slot.
    pub(super) fn last_key(&self) -> Option<Gc<Str>> {
        self.key(self.count.checked_sub(1)?)
    }

    /// Visits the children that are there as long as this: those that code gives to tables, and all that have the same metatable.
    pub(super) fn each_lasting(&self, mut visit: impl FnMut(ShapeRef)) {
        let children = self.children.borrow();
        match self.is_of_class() {
            true => children.by_key.values().for_each(|child| visit(*child)),
            false => children.learned.iter().for_each(|child| visit(*child)),
        }
    }

    /// Whether it is for tables with one metatable.
    pub(super) fn is_of_class(&self) -> bool {
        matches!(self.meta, Meta::Known(_))
    }

    /// The shape that a table of this one gets with a metatable, if there is one.
    pub(super) fn of_class(&self, metatable: Gc<Table>) -> Option<ShapeRef> {
        let known = self.children.borrow().by_class.get(&metatable).copied();
        // SAFETY: shapes know shapes of the same heap.
        known.filter(|shape| unsafe { ShapeRef::is_there(shape.word()) })
    }

    /// Forgets a child, which is freed.
    pub(super) fn forget(&self, child: ShapeRef) {
        let mut children = self.children.borrow_mut();
        if let Some(key) = child.last_key()
            && children.by_key.get(&key) == Some(&child)
        {
            children.by_key.remove(&key);
        }
        if child.is_learned.get() {
            children.learned.retain(|learned| *learned != child);
        }
        if children.by_meta(child.meta) == Some(&child) {
            children.forget_meta(child.meta);
        }
        if children.dictionary == Some(child) {
            children.dictionary = None;
        }
    }

    /// Takes the last key out of the list that the shapes of its line share: this one is freed, and nobody has gone on from here.
    pub(super) fn shorten(&self) {
        let mut keys = self.keys.borrow_mut();
        if keys.list.len() == self.count as usize
            && let Some(key) = keys.list.pop()
        {
            keys.slots.remove(&key);
        }
    }
}

/// So many keys are looked at one by one.
const FEW: usize = 6;

impl ShapeRef {
    /// The bits of an address.
    pub(crate) const ADDRESS: u64 = (1 << 48) - 1;

    /// The shape at an address that has had so many before.
    pub(super) fn new(cell: *mut ShapeCell, generation: u16) -> ShapeRef {
        let word = u64::from(generation) << 48 | cell.expose_provenance() as u64;
        ShapeRef(NonZeroU64::new(word).expect("a shape has an address"))
    }

    /// Where it is.
    #[inline(always)]
    pub(super) fn cell(self) -> *mut ShapeCell {
        std::ptr::with_exposed_provenance_mut((self.0.get() & Self::ADDRESS) as usize)
    }

    /// The cycle of the collector in which the shape was reached last, which is there.
    #[inline(always)]
    pub(super) fn reached(&self) -> &Cell<u32> {
        // SAFETY: cells are there as long as the heap.
        unsafe { &(*self.cell()).reached }
    }

    /// Whether what is at its address later has another word.
    pub(super) fn has_a_next_word(self) -> bool {
        self.generation() < u16::MAX
    }

    /// How many shapes were there before.
    pub(super) fn generation(self) -> u16 {
        (self.0.get() >> 48) as u16
    }

    /// The word, which machine code compares.
    pub fn word(self) -> u64 {
        self.0.get()
    }

    /// Whether a shape is there that code has as a word. No shape is zero.
    ///
    /// # Safety
    ///
    /// It must have been a shape of a heap that is there, or be zero.
    pub(crate) unsafe fn is_there(word: u64) -> bool {
        // SAFETY: the caller guarantees it. Where shapes were is no other memory as long as the heap is there.
        NonZeroU64::new(word).is_some_and(|word| unsafe { (*ShapeRef(word).cell()).has(ShapeRef(word)) })
    }

    /// Tables of this shape that have been made without slots are given room for so many: others of their class have needed it.
    pub(super) fn wanted(self) -> u32 {
        self.wanted.get()
    }

    /// A table of this shape has needed room for so many slots. The objects of a class that are to come get it with their metatable.
    pub(super) fn note_wanted(self, capacity: u32) {
        /// Objects with more are too different from each other.
        const MOST: u32 = 8;
        if capacity > MOST || !matches!(self.meta, Meta::Known(_)) {
            return;
        }
        let mut class = self;
        while class.count > 0 {
            let Some(parent) = class.parent else { return };
            class = parent;
        }
        if class.meta == self.meta {
            class.wanted.set(class.wanted.get().max(capacity));
        }
    }

    /// The shape is there as long as its parent.
    pub(super) fn set_learned(self) {
        if !self.is_learned.replace(true) {
            let parent = self.parent.expect("it has one key more than another");
            parent.children.borrow_mut().learned.push(self);
        }
    }
}

impl Shapes {
    pub(crate) fn new() -> Shapes {
        let null = ShapeRef(NonZeroU64::MAX);
        let mut shapes = Shapes {
            root: null,
            mode: None,
            all: Vec::new(),
            vacant: Vec::new(),
            cells: Vec::new(),
            cycle: 1,
            is_marking: false,
            next: 0,
            few: FEW_SHAPES,
        };
        shapes.root = shapes.make(Shape::without_keys(Meta::None, false, None));
        shapes
    }

    /// The shape of a table without keys and metatable.
    pub fn root(&self) -> ShapeRef {
        self.root
    }

    /// How many shapes there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A shape that was learned of, if it is there, and will be.
    fn usable(&self, shape: Option<&ShapeRef>) -> Option<ShapeRef> {
        // SAFETY: shapes know shapes of the same heap.
        let there = shape.copied().filter(|shape| unsafe { ShapeRef::is_there(shape.word()) })?;
        // After marking what was not reached is as good as gone: its metatable may be gone, and another one at the same address.
        (self.is_marking || there.reached().get() == self.cycle).then_some(there)
    }

    /// A shape that code has as a word, if tables may be given it.
    pub(super) fn at(&self, word: u64) -> Option<ShapeRef> {
        self.usable(NonZeroU64::new(word).map(ShapeRef).as_ref())
    }

    /// The shape of a table of this shape that gets another key; `None` if the key has to go to the hash part.
    pub fn with_key(&mut self, shape: ShapeRef, key: Gc<Str>) -> Option<ShapeRef> {
        if shape.is_dictionary || shape.count >= MAX_SLOTS {
            return None;
        }
        if let Some(child) = self.usable(shape.children.borrow().by_key.get(&key)) {
            return Some(child);
        }
        let are_few = self.all.len() <= FEW_SHAPES;
        let most = if shape.count == 0 || are_few { MAX_CHILDREN } else { FEW_CHILDREN };
        if shape.children.borrow().by_key.len() >= most || self.all.len() >= MAX_SHAPES {
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
            may_have_mode: shape.may_have_mode || self.mode == Some(key),
            first,
            keys,
            ..Shape::without_keys(shape.meta, false, Some(shape))
        });
        shape.children.borrow_mut().by_key.insert(key, child);
        Some(child)
    }

    /// The shape of a table with these keys and no metatable, which may be the one that is known. If there is no more room for shapes, it is
    /// one that no other table gets.
    pub(super) fn with_keys(&mut self, keys: &[Gc<Str>]) -> ShapeRef {
        let known = keys.iter().try_fold(self.root, |shape, key| self.with_key(shape, *key));
        known.unwrap_or_else(|| {
            self.make_alone(keys.to_vec(), Shape::without_keys(Meta::None, false, Some(self.root)))
        })
    }

    /// Makes a shape that is this one with all of these keys at once.
    fn make_alone(&mut self, keys: Vec<Gc<Str>>, shape: Shape) -> ShapeRef {
        let mut first = [None; FEW];
        first.iter_mut().zip(&keys).for_each(|(place, key)| *place = Some(*key));
        let (count, keys) = (keys.len() as u32, Rc::new(RefCell::new(Keys::of(keys))));
        self.make(Shape { count, first, keys, ..shape })
    }

    /// Whether tables of this shape may get more shapes, one for each metatable.
    pub(crate) fn has_room_for_meta(&self, shape: ShapeRef) -> bool {
        let n_classes = |shape: ShapeRef| shape.children.borrow().by_class.len();
        let n_known = n_classes(shape).max(n_classes(self.root));
        n_known < MAX_CHILDREN && self.all.len() < MAX_SHAPES
    }

    /// The shape of a table of this shape that gets a metatable, or loses it.
    pub fn with_meta(&mut self, shape: ShapeRef, meta: Meta) -> ShapeRef {
        if shape.meta == meta {
            return shape;
        }
        if shape.is_dictionary {
            let root = self.with_meta(self.root, meta);
            return self.dictionary(root);
        }
        if let Some(child) = self.usable(shape.children.borrow().by_meta(meta)) {
            return child;
        }
        // It does not matter whether a table gets its metatable before its keys.
        let root = match meta {
            Meta::None => Some(self.root),
            _ if shape == self.root => None,
            // Nor whether the metatable was one of many before.
            _ => Some(self.with_meta(self.root, meta)),
        };
        let all: Vec<Gc<Str>> = shape.keys.borrow().list[..shape.count as usize].to_vec();
        let same = root.and_then(|root| all.iter().try_fold(root, |shape, key| self.with_key(shape, *key)));
        let child = same.unwrap_or_else(|| {
            let alone = Shape::without_keys(meta, false, Some(shape));
            self.make_alone(all, Shape { may_have_mode: shape.may_have_mode, ..alone })
        });
        shape.children.borrow_mut().add_meta(meta, child);
        child
    }

    /// The shape of a table with this one's metatable that keeps its string keys in its hash part.
    pub fn dictionary(&mut self, shape: ShapeRef) -> ShapeRef {
        if shape.is_dictionary {
            return shape;
        }
        if let Some(known) = self.usable(shape.children.borrow().dictionary.as_ref()) {
            return known;
        }
        let child = self.make(Shape::without_keys(shape.meta, true, Some(shape)));
        shape.children.borrow_mut().dictionary = Some(child);
        child
    }
}

impl Children {
    /// Notes what tables become that get a metatable. What is known of shapes that are gone is forgotten now and then.
    fn add_meta(&mut self, meta: Meta, child: ShapeRef) {
        match meta {
            Meta::None => self.without_meta = Some(child),
            Meta::Some => self.with_some_meta = Some(child),
            Meta::Known(class) => drop(self.by_class.insert(class, child)),
        }
        if self.by_class.len() > self.many_classes {
            // SAFETY: shapes know shapes of the same heap.
            self.by_class.retain(|_, child| unsafe { ShapeRef::is_there(child.word()) });
            self.many_classes = 2 * self.by_class.len() + 8;
        }
    }

    /// What a table becomes that gets a metatable, or loses it.
    fn by_meta(&self, meta: Meta) -> Option<&ShapeRef> {
        match meta {
            Meta::None => self.without_meta.as_ref(),
            Meta::Some => self.with_some_meta.as_ref(),
            Meta::Known(class) => self.by_class.get(&class),
        }
    }

    fn forget_meta(&mut self, meta: Meta) {
        match meta {
            Meta::None => self.without_meta = None,
            Meta::Some => self.with_some_meta = None,
            Meta::Known(class) => drop(self.by_class.remove(&class)),
        }
    }
}

impl Shape {
    /// A shape without string keys in slots.
    fn without_keys(meta: Meta, is_dictionary: bool, parent: Option<ShapeRef>) -> Shape {
        Shape {
            count: 0,
            is_dictionary,
            // What is in the hash part nobody knows.
            may_have_mode: is_dictionary,
            meta,
            first: [None; FEW],
            keys: Rc::default(),
            children: RefCell::default(),
            is_learned: Cell::new(false),
            wanted: Cell::new(0),
            parent,
        }
    }
}

impl Keys {
    fn of(list: Vec<Gc<Str>>) -> Keys {
        let slots = list.iter().copied().zip(0..).collect();
        Keys { list, slots }
    }
}

/// The keys of a shape by themselves.
fn first_of(shape: &Shape) -> Keys {
    Keys::of(shape.keys.borrow().list[..shape.count as usize].to_vec())
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shapes", self.all.len())
    }
}
