//! Tables.
//!
//! In: keys and values. Out: a [`Table`] with three parts. String keys are in slots that the table's [shape](crate::object::shape) knows; keys
//! from 1 on, as long as more than half of them are there, in an array; all others in a hash part. Machine code reads all three.
//!
//! **Invariants:** no key is in two parts. The array's elements up to its length have values, which may be `nil`. A key of the hash part
//! is not within the array's length. Minus zero is the key zero, and no key is `nil` or NaN.

pub(crate) use super::hash::HashPart;
pub use super::traverse::{NoSuchKey, Position};

use crate::object::heap::{Gc, Header, Heap, ObjectKind};
use crate::object::shape::{Meta, ShapeRef};
use crate::object::string::Str;
use crate::object::value::Value;
use std::cell::Cell;
use std::mem::offset_of;

/// With so many string keys a table is a map once it gets another that the program has computed.
const MOST_COMPUTED: u32 = 32;

/// The hash part has room for one entry for so many elements, where it was looked at all of these: a queue moves along its keys.
const ELEMENTS_FOR_ENTRY: u32 = 16;

/// A table on the heap. Words for its first elements and slots follow it.
#[repr(C)]
pub struct Table {
    /// Flags: which metamethods it is known not to have, if it is a metatable; and [`Table::PROTOTYPE`].
    pub(super) header: Header,
    /// The address of its shape.
    pub(crate) shape: Cell<ShapeRef>,
    /// The values of string keys.
    pub(crate) slots: Cell<*mut Cell<Value>>,
    /// The values of the keys from 0 on. Key 0 is always there, so whoever counts from 0 finds it as quickly as the elements.
    pub(crate) array: Cell<*mut Cell<Value>>,
    /// The first key behind the array: one more than there are elements.
    pub(crate) array_end: Cell<u32>,
    /// How many keys there is memory for.
    pub(crate) array_room: Cell<u32>,
    pub(crate) metatable: Cell<Option<Gc<Table>>>,
    pub(crate) hash: Cell<Option<Gc<HashPart>>>,
    /// The value of key 0, as long as the array has no memory of its own.
    pub(crate) zero: Cell<Value>,
}

/// What the error says that there is no room for what a program makes.
pub(crate) const NO_MEMORY: &str = "not enough memory";

/// Why a key cannot be assigned to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyError {
    /// It is `nil`.
    Nil,
    /// It is a NaN.
    Nan,
    /// The table is too large.
    Overflow,
    /// The system has no memory for it.
    NoMemory,
}

impl KeyError {
    /// What is wrong with a key in any table.
    pub(crate) fn of(key: Value) -> Option<KeyError> {
        match key {
            Value::NIL => Some(KeyError::Nil),
            key if key.as_number().is_some_and(f64::is_nan) => Some(KeyError::Nan),
            _ => None,
        }
    }

    /// The message.
    pub fn message(self) -> &'static str {
        match self {
            KeyError::Nil => "table index is nil",
            KeyError::Nan => "table index is NaN",
            KeyError::Overflow => "table overflow",
            KeyError::NoMemory => NO_MEMORY,
        }
    }
}

/// The words of a table's own memory that are slots and elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    /// How many string keys it will have.
    pub slots: u32,
    /// How many elements.
    pub elements: u32,
}

impl Table {
    /// The flag of tables that others inherit from: when its keys change, what was found in it is forgotten.
    pub const PROTOTYPE: u16 = 1 << 15;

    /// The flag of tables that have been the metatable of one.
    pub(super) const METATABLE: u16 = 1 << 14;

    /// The flag of tables whose slots follow them.
    pub(crate) const INLINE_SLOTS: u16 = 1 << 13;

    /// The flag of tables whose elements follow them.
    pub(crate) const INLINE_ELEMENTS: u16 = 1 << 12;

    /// The flag of tables whose names are in their hash part.
    pub(crate) const MAP: u16 = 1 << 11;

    /// The flag of metatables that have been asked for `__newindex`, and have none.
    pub(crate) const NO_SETTER: u16 = 1;

    /// The same of `__eq`.
    pub(crate) const NO_EQUAL: u16 = 1 << 1;

    /// The most words that follow a table.
    pub(super) const MAX_INLINE: u32 = 16;

    /// The metatable.
    pub fn metatable(&self) -> Option<Gc<Table>> {
        self.metatable.get()
    }

    /// How many slots there is memory for.
    fn slot_capacity(&self) -> u32 {
        self.header.len.get()
    }

    /// The slots that have keys.
    pub(crate) fn slot_values(&self) -> &[Cell<Value>] {
        // SAFETY: the shape has so many keys.
        unsafe { words(self.slots.get(), self.shape.get().count()) }
    }

    /// The values of the keys in the array, from 0 on.
    pub(crate) fn indexed(&self) -> &[Cell<Value>] {
        // SAFETY: the array has so many values.
        unsafe { words(self.array.get(), self.array_end.get()) }
    }

    /// The elements of the array, whose keys begin with 1.
    pub(crate) fn elements(&self) -> &[Cell<Value>] {
        &self.indexed()[1..]
    }

    /// How many elements the array has.
    pub(crate) fn array_len(&self) -> u32 {
        self.array_end.get() - 1
    }

    /// The value of a string key.
    #[inline]
    pub fn get_string(&self, key: Gc<Str>) -> Value {
        let shape = self.shape.get();
        match shape.slot(key) {
            Some(slot) => self.slot_values()[slot as usize].get(),
            None if shape.is_dictionary() => self.get_hashed(Value::string(key)),
            None => Value::NIL,
        }
    }

    fn get_hashed(&self, key: Value) -> Value {
        self.hash.get().map_or(Value::NIL, |hash| hash.get(key))
    }

    /// The value of an integer key.
    pub fn get_integer(&self, key: i64) -> Value {
        match self.indexed().get(key as usize) {
            Some(value) => value.get(),
            None => self.get_hashed(Value::number(key as f64)),
        }
    }

    /// The value of a key; `nil` if there is none.
    pub fn get(&self, key: Value) -> Value {
        if let Some(string) = key.as_string() {
            return self.get_string(string);
        }
        match key.as_integer() {
            // This makes zero of minus zero, too.
            Some(integer) => self.get_integer(integer),
            None => self.get_hashed(key),
        }
    }

    /// The place of a key that is there, if only with the value `nil`.
    fn place(&self, key: Value) -> Option<&Cell<Value>> {
        if let Some(string) = key.as_string()
            && let Some(slot) = self.shape.get().slot(string)
        {
            return Some(&self.slot_values()[slot as usize]);
        }
        if let Some(integer) = key.as_integer()
            && let Some(value) = self.indexed().get(integer as usize)
        {
            return Some(value);
        }
        let hash = self.hash.get()?;
        let at = hash.find(key)?;
        // SAFETY: the entries are there as long as the table has the part, and nobody takes it away meanwhile.
        Some(unsafe { &*std::ptr::from_ref(&hash.entry(at).value) })
    }

    /// Forgets that there is no `__newindex`.
    fn forget_absent(&self) {
        self.header.flags.set(self.header.flags.get() & !(Table::NO_SETTER | Table::NO_EQUAL));
    }

    /// Visits the memory that belongs to the table alone.
    pub(crate) fn each_memory(&self, mut visit: impl FnMut(Gc<Header>)) {
        let parts = [(Table::INLINE_SLOTS, self.slots.get()), (Table::INLINE_ELEMENTS, self.array.get())];
        for (flag, values) in parts {
            if !self.header.has(flag) {
                visit(super::array::header_of(values));
            }
        }
        if let Some(hash) = self.hash.get() {
            visit(hash.header());
        }
    }
}

/// Words as a slice.
///
/// # Safety
///
/// So many must be there.
unsafe fn words<'a>(first: *mut Cell<Value>, count: u32) -> &'a [Cell<Value>] {
    match count {
        0 => &[],
        // SAFETY: the caller guarantees it.
        _ => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}

/// The key that a number is looked up by: minus zero is zero.
pub(super) fn normalized(key: Value) -> Value {
    if key.0 == (-0.0f64).to_bits() { Value::number(0.0) } else { key }
}

impl Heap {
    /// A table with room for so many fields and elements.
    pub fn table(&mut self, room: Room) -> Gc<Table> {
        let slots = room.slots.min(Table::MAX_INLINE);
        let elements = match slots + room.elements <= Table::MAX_INLINE {
            true => room.elements,
            false => 0,
        };
        let table = self.with_inline(slots, elements, self.shapes.root());
        if elements < room.elements {
            // The room is made later if there is no memory now.
            _ = self.reserve_elements(table, room.elements);
        }
        table
    }

    /// A table of a shape, whose keys have no values yet, with memory of its own for so many slots and elements.
    #[inline(always)]
    pub(super) fn with_inline(&mut self, slots: u32, elements: u32, shape: ShapeRef) -> Gc<Table> {
        let memory = self.allocate(size_of::<Table>() + (slots + elements) as usize * size_of::<Value>());
        // The elements follow the value of key 0.
        let array: *mut Cell<Value> = memory.wrapping_add(offset_of!(Table, zero)).cast();
        const _: () = assert!(offset_of!(Table, zero) + size_of::<Value>() == size_of::<Table>());
        // SAFETY: there is so much memory.
        let table = unsafe {
            memory.cast::<Table>().write(Table {
                header: Header::new(ObjectKind::Table, self.white(), slots),
                shape: Cell::new(shape),
                slots: Cell::new(array.wrapping_add(1 + elements as usize)),
                array: Cell::new(array),
                array_end: Cell::new(1),
                array_room: Cell::new(1 + elements),
                metatable: Cell::new(None),
                hash: Cell::new(None),
                zero: Cell::new(Value::NIL),
            });
            Gc::<Table>::of(memory.cast())
        };
        table.header.set(Table::INLINE_SLOTS | Table::INLINE_ELEMENTS);
        table
    }

    /// Assigns to a key of a table, without metamethods.
    pub fn set(&mut self, table: Gc<Table>, key: Value, value: Value) -> Result<(), KeyError> {
        self.assign(table, key, value).map(drop)
    }

    /// The same; returns whether the key had a value.
    #[inline]
    pub(crate) fn assign(&mut self, table: Gc<Table>, key: Value, value: Value) -> Result<bool, KeyError> {
        let key = normalized(key);
        if let Some(place) = table.place(key) {
            let had = !place.get().is_nil();
            self.put(table, (key, place), value);
            return Ok(had);
        }
        if let Some(error) = KeyError::of(key) {
            return Err(error);
        }
        if !value.is_nil() {
            self.add_key(table, key, value)?;
        }
        Ok(false)
    }

    /// Assigns to a key of a table that has a value; returns whether it has one.
    #[inline]
    pub(crate) fn replace(&mut self, table: Gc<Table>, key: Value, value: Value) -> bool {
        let key = normalized(key);
        let Some(place) = table.place(key).filter(|place| !place.get().is_nil()) else { return false };
        if table.hash.get().is_some_and(|hash| hash.is_waiting()) && table.get(key).is_nil() {
            // The collector is about to remove it.
            return false;
        }
        self.put(table, (key, place), value);
        true
    }

    /// Assigns to the place of a key.
    #[inline(always)]
    fn put(&mut self, table: Gc<Table>, (key, place): (Value, &Cell<Value>), value: Value) {
        if place.get().is_nil() {
            // The collector does not look at a key whose value is nil.
            self.wrote(table, key);
        }
        place.set(value);
        if let Some(name) = key.as_string() {
            table.forget_absent();
            // It may say from where others inherit, or that they are weak.
            if name.bytes().starts_with(b"__") {
                self.keys_change(table);
                self.mode_changes(table, key);
            }
        }
        self.wrote(table, value);
    }

    /// Assigns to a string key.
    pub fn set_string(&mut self, table: Gc<Table>, key: Gc<Str>, value: Value) -> Result<(), KeyError> {
        self.set(table, Value::string(key), value)
    }

    /// Assigns to an integer key.
    pub fn set_integer(&mut self, table: Gc<Table>, key: i64, value: Value) -> Result<(), KeyError> {
        self.set(table, Value::number(key as f64), value)
    }

    fn add_key(&mut self, table: Gc<Table>, key: Value, value: Value) -> Result<(), KeyError> {
        self.wrote(table, key);
        self.wrote(table, value);
        if let Some(string) = key.as_string() {
            table.forget_absent();
            self.keys_change(table);
            self.mode_changes(table, key);
            if self.add_slot(table, string, value)? {
                return Ok(());
            }
        } else if let Some(integer) = key.as_integer()
            && integer == table.array_end.get() as i64
        {
            return self.push_element(table, value);
        }
        self.add_hashed(table, key, value)
    }

    /// Gives a table a slot for a key; returns whether it can have one.
    fn add_slot(&mut self, table: Gc<Table>, key: Gc<Str>, value: Value) -> Result<bool, KeyError> {
        let shape = table.shape.get();
        let Some(next) = self.shapes.with_key(shape, key) else {
            self.become_dictionary(table)?;
            return Ok(false);
        };
        let slot = shape.count();
        if slot >= table.slot_capacity() {
            let capacity = (2 * slot).max(4);
            self.reserve_slots(table, capacity)?;
            shape.note_wanted(capacity);
        }
        // SAFETY: there is room for this slot.
        unsafe { (*table.slots.get().add(slot as usize)).set(value) };
        self.set_shape(table, next);
        Ok(true)
    }

    /// Makes room for so many slots, which are more than there are.
    fn reserve_slots(&mut self, table: Gc<Table>, capacity: u32) -> Result<(), KeyError> {
        let slots = self.values(capacity)?;
        // SAFETY: the table has so many slots, and there is room for them.
        unsafe { slots.copy_from_nonoverlapping(table.slots.get(), table.shape.get().count() as usize) };
        self.free_values(table, table.slots.replace(slots), (Table::INLINE_SLOTS, table.slot_capacity()));
        table.header.len.set(capacity);
        Ok(())
    }

    /// Makes a table a map that is about to get a key which the program has computed, and has many: nobody finds those by a shape, and shapes
    /// would be made for each order in which they come.
    pub(crate) fn make_map_of_many(&mut self, table: Gc<Table>, key: Gc<Str>) -> Result<(), KeyError> {
        let shape = table.shape.get();
        let is_looked_up = table.header.has(Table::PROTOTYPE) || table.header.has(Table::METATABLE);
        match shape.count() >= MOST_COMPUTED && !is_looked_up && shape.slot(key).is_none() {
            true => self.become_dictionary(table),
            false => Ok(()),
        }
    }

    /// Moves a table's string keys to its hash part, where all others go from now on.
    fn become_dictionary(&mut self, table: Gc<Table>) -> Result<(), KeyError> {
        let shape = table.shape.get();
        if shape.is_dictionary() {
            return Ok(());
        }
        let values: Vec<Value> = table.slot_values().iter().map(Cell::get).collect();
        let keys: Vec<Value> =
            (0..shape.count()).filter_map(|slot| shape.key(slot)).map(Value::string).collect();
        table.header.set(Table::MAP);
        let dictionary = self.shapes.dictionary(shape);
        self.set_shape(table, dictionary);
        for (key, value) in keys.into_iter().zip(values) {
            if !value.is_nil() {
                self.add_hashed(table, key, value)?;
            }
        }
        Ok(())
    }

    /// Adds an entry to the hash part, which is made anew if it is full.
    pub(super) fn add_hashed(&mut self, table: Gc<Table>, key: Value, value: Value) -> Result<(), KeyError> {
        if table.hash.get().is_some_and(|hash| hash.add(key, value)) {
            return Ok(());
        }
        // What is in the hash part may be more use in the array.
        let mut least = 0;
        if let Some(integer) = key.as_integer() {
            if self.move_to_array(table, integer)? {
                return self.set(table, key, value);
            }
            // All elements were looked at: that pays once in a while, even if the keys in the hash part do not stay there for long.
            least = table.array_len() / ELEMENTS_FOR_ENTRY;
        }
        let old = table.hash.get();
        let live = old.map_or(0, |hash| hash.live().count() as u32);
        let room = (live + live / 2 + 1).max(least);
        let new = HashPart::new(self, room)?;
        if let Some(hash) = old {
            hash.live().for_each(|entry| {
                new.add(entry.key.get(), entry.value.get());
            });
        }
        table.hash.set(Some(new));
        if let Some(hash) = old {
            self.entries_move(table, hash);
            let bytes = hash.bytes();
            self.free(hash.header(), bytes);
        }
        new.add(key, value);
        Ok(())
    }

    /// Sets a table's metatable.
    pub fn set_metatable(&mut self, table: Gc<Table>, metatable: Option<Gc<Table>>) {
        table.metatable.set(metatable);
        self.keys_change(table);
        let meta = match metatable {
            None => Meta::None,
            // Tables that are alone with their metatable would each need a shape.
            Some(metatable) if metatable.header.has(Table::METATABLE) => Meta::Known(metatable),
            Some(metatable) => {
                metatable.header.set(Table::METATABLE);
                Meta::Some
            }
        };
        let shape = self.shapes.with_meta(table.shape.get(), meta);
        self.set_shape(table, shape);
        if table.slot_capacity() == 0 && shape.wanted() > 0 {
            // The room is made later if there is no memory now.
            _ = self.reserve_slots(table, shape.wanted());
        }
        self.metatable_changes(table);
    }

    /// The shape of a table, and the one that it gets with a metatable: also others of its shape, unless somebody inherits from them or they have
    /// no memory for fields.
    pub(crate) fn shapes_with_metatable(
        &mut self,
        table: Gc<Table>,
        metatable: Gc<Table>,
    ) -> Option<(ShapeRef, ShapeRef)> {
        let before = table.shape.get();
        let is_plain = table.slot_capacity() > 0 && !table.header.has(Table::PROTOTYPE);
        let is_first = before.meta() == Meta::None && !before.is_dictionary();
        if !is_plain || !is_first || !self.shapes.has_room_for_meta(before) {
            return None;
        }
        metatable.header.set(Table::METATABLE);
        let after = self.shapes.with_meta(before, Meta::Known(metatable));
        self.reached_shape(after);
        (!after.is_dictionary() && after.has_a_next_word()).then_some((before, after))
    }

    /// Keeps a shape that code is about to give to a table; returns whether it may do that.
    pub(crate) fn reach_shape(&mut self, word: u64) -> bool {
        let shape = self.shapes.at(word);
        shape.into_iter().for_each(|shape| self.reached_shape(shape));
        shape.is_some()
    }

    /// Gives a table a shape that knows its metatable, if shapes may be made for that. A table that is alone with its metatable
    /// has none until somebody looks a field up by it.
    pub(crate) fn know_metatable(&mut self, table: Gc<Table>) {
        let shape = table.shape.get();
        if shape.meta() == Meta::Some
            && self.shapes.has_room_for_meta(shape)
            && let Some(metatable) = table.metatable()
        {
            metatable.header.set(Table::METATABLE);
            let shape = self.shapes.with_meta(shape, Meta::Known(metatable));
            self.set_shape(table, shape);
        }
    }

    /// Code gives a shape to tables of its parent from now on. The parent may have been looked at in this cycle: then nobody else reaches
    /// the shape.
    pub(crate) fn learn_shape(&mut self, shape: ShapeRef) {
        shape.set_learned();
        self.reached_shape(shape);
    }

    /// Gives a table a shape.
    fn set_shape(&mut self, table: Gc<Table>, shape: ShapeRef) {
        table.shape.set(shape);
        self.reached_shape(shape);
    }
}
