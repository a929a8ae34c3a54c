//! The array part of a table, and memory for values.
//!
//! In: integer keys. Out: an array as long as more than half of the keys up to its length are there, found when the hash part is full,
//! as in C's Lua; and the length that `#` gives. In front of the elements is the value of key 0.
//!
//! The array of a weak table does not get long: the collector looks at all of it at once.

use super::blocks::is_large;
use super::hash::HashPart;
use super::table::{KeyError, Table};
use crate::object::heap::{Gc, Header, Heap, ObjectKind};
use crate::object::value::Value;
use std::cell::Cell;

/// Elements that follow a header, in an object that belongs to one table.
const HEADER: usize = size_of::<Header>();

/// The longest array of a table that is weak when it grows.
pub(super) const MOST_WEAK: u32 = 1024;

/// How many keys without values an array forgets at once.
const MOST_FORGOTTEN: usize = 64;

impl Table {
    /// A border: a number of elements behind which there is `nil`, as `#` gives it. The array forgets a few keys at its end that have no values. So the
    /// length of a stack is found at once again, whatever was taken from it.
    pub fn length(&self) -> u32 {
        let elements = self.elements();
        if elements.last().is_some_and(|last| last.get().is_nil()) {
            let length = self.length_in_array();
            let behind = &elements[length as usize..];
            if behind.len() <= MOST_FORGOTTEN && behind.iter().all(|element| element.get().is_nil()) {
                self.array_end.set(length + 1);
            }
            return length;
        }
        match self.hash.get() {
            Some(hash) => self.length_in_hash(hash, elements.len() as u32),
            None => elements.len() as u32,
        }
    }

    /// A border in the array, whose last element has no value. Where the elements have gaps it is the one that C's Lua finds, if the array is as
    /// long there.
    fn length_in_array(&self) -> u32 {
        let elements = self.elements();
        let is_there = |key: usize| elements.get(key - 1).is_some_and(|element| !element.get().is_nil());
        let (mut low, mut high) = (0, self.array_room.get() as usize - 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            match is_there(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        low as u32
    }

    /// Takes the last element from the array, if it is what `#` counts and has a value.
    pub(crate) fn pop(&self) -> Option<Value> {
        let last = self.elements().last()?;
        if last.get().is_nil() || self.hash.get().is_some() {
            return None;
        }
        self.array_end.set(self.array_len());
        Some(last.replace(Value::NIL))
    }

    /// A border in the hash part, behind an array of this length.
    fn length_in_hash(&self, hash: Gc<HashPart>, array: u32) -> u32 {
        let is_there = |key: u32| !hash.get(Value::number(key as f64)).is_nil();
        let (mut low, mut high) = (array, array + 1);
        while is_there(high) {
            low = high;
            if high > 1 << 30 {
                // Somebody has made a table to annoy this function.
                return (array + 1..).find(|key| !is_there(*key)).map_or(low, |key| key - 1);
            }
            high *= 2;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match is_there(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }
}

impl Heap {
    /// Memory for so many values, which belongs to a table. What is in it has to be written.
    pub(crate) fn values(&mut self, count: u32) -> Result<*mut Cell<Value>, KeyError> {
        let memory = self.try_allocate(HEADER + count as usize * size_of::<Value>());
        let memory = memory.ok_or(KeyError::NoMemory)?;
        // SAFETY: there is so much memory.
        unsafe {
            memory.cast::<Header>().write(Header::new(ObjectKind::Values, self.memory_color(), count));
            Ok(memory.add(HEADER).cast::<Cell<Value>>())
        }
    }

    /// Makes memory for values larger that is an object of its own; returns where it is.
    fn grow_values(&mut self, values: *mut Cell<Value>, count: u32) -> Result<*mut Cell<Value>, KeyError> {
        let object = self.grow(header_of(values), HEADER + count as usize * size_of::<Value>());
        let object = object.ok_or(KeyError::NoMemory)?;
        object.len.set(count);
        // SAFETY: the values are behind the header.
        Ok(unsafe { object.pointer().add(1).cast() })
    }

    /// Gives back memory for values, unless it is the table's own.
    pub(super) fn free_values(
        &mut self,
        table: Gc<Table>,
        values: *mut Cell<Value>,
        (flag, count): (u16, u32),
    ) {
        let flags = table.header.flags.get();
        table.header.flags.set(flags & !flag);
        if flags & flag == 0 {
            self.free(header_of(values), HEADER + count as usize * size_of::<Value>());
        }
    }

    /// Makes room for so many elements. If that fails, the table stays as it is.
    pub(crate) fn reserve_elements(&mut self, table: Gc<Table>, capacity: u32) -> Result<(), KeyError> {
        let (old, room) = (table.array_room.get(), capacity + 1);
        if room <= old {
            return Ok(());
        }
        let is_alone = !table.header.has(Table::INLINE_ELEMENTS);
        if is_alone && is_large(HEADER + old as usize * size_of::<Value>()) {
            table.array.set(self.grow_values(table.array.get(), room)?);
            table.array_room.set(room);
            return Ok(());
        }
        let (array, end) = (self.values(room)?, table.array_end.get() as usize);
        table.array_room.set(room);
        // SAFETY: so many values are there, and there is room for them.
        unsafe { array.copy_from_nonoverlapping(table.array.get(), end) };
        let array = table.array.replace(array);
        self.free_values(table, array, (Table::INLINE_ELEMENTS, old));
        Ok(())
    }

    /// Sets the elements from a key on, of a table that a constructor makes.
    pub(crate) fn set_list(
        &mut self,
        table: Gc<Table>,
        first: u32,
        values: &[Value],
    ) -> Result<(), KeyError> {
        if table.hash.get().is_some() || table.array_end.get() != first {
            let mut keyed = values.iter().zip(first as i64..);
            return keyed.try_for_each(|(value, key)| self.set_integer(table, key, *value));
        }
        let end = u32::try_from(first as usize + values.len()).map_err(|_| KeyError::Overflow)?;
        self.reserve_elements(table, end - 1)?;
        for (value, at) in values.iter().zip(first as usize..) {
            // SAFETY: there is room for it.
            unsafe { table.array.get().add(at).write(Cell::new(*value)) };
            self.wrote(table, *value);
        }
        table.array_end.set(end);
        Ok(())
    }

    /// Adds the element behind the last, and those that follow it in the hash part.
    pub(super) fn push_element(&mut self, table: Gc<Table>, value: Value) -> Result<(), KeyError> {
        let mut value = value;
        loop {
            let (len, end) = (table.array_len(), table.array_end.get());
            if end == table.array_room.get() {
                if len >= MOST_WEAK && self.is_weak(table) {
                    return self.add_hashed(table, Value::number(len as f64 + 1.0), value);
                }
                let doubled = len.max(2).checked_mul(2).ok_or(KeyError::Overflow)?;
                self.reserve_elements(table, doubled)?;
            }
            // SAFETY: there is room for it.
            unsafe { (*table.array.get().add(end as usize)).set(value) };
            table.array_end.set(end + 1);
            self.wrote(table, value);
            let Some(hash) = table.hash.get() else { return Ok(()) };
            let Some(at) = hash.find(Value::number(len as f64 + 2.0)) else { return Ok(()) };
            value = hash.take(at);
            if value.is_nil() {
                return Ok(());
            }
        }
    }

    /// Makes the array as long as more than half of its elements are there, with those of the hash part and one more key. Returns
    /// whether that key is within the array now.
    pub(super) fn move_to_array(&mut self, table: Gc<Table>, key: i64) -> Result<bool, KeyError> {
        let len = table.array_len();
        let Some(hash) = table.hash.get() else { return Ok(false) };
        // For each power of two, how many keys are above the one before, and not above this.
        let mut counts = [0u32; 32];
        let mut count = |key: i64| {
            if (1..=1 << 30).contains(&key) {
                counts[(key as u64).next_power_of_two().trailing_zeros() as usize] += 1;
            }
        };
        hash.live().filter_map(|entry| entry.key.get().as_integer()).for_each(&mut count);
        count(key);
        let (elements, mut from) = (table.elements(), 0);
        for (power, count) in counts.iter_mut().enumerate() {
            let to = elements.len().min(1 << power);
            *count += elements[from..to].iter().filter(|element| !element.get().is_nil()).count() as u32;
            from = to;
        }
        let (mut sum, mut best) = (0u64, 0u64);
        for (power, count) in counts.into_iter().enumerate() {
            sum += count as u64;
            if sum > 1 << power >> 1 {
                best = 1 << power;
            }
        }
        if best <= len as u64 || key < 1 || key as u64 > best {
            return Ok(false);
        }
        if best > MOST_WEAK as u64 && self.is_weak(table) {
            return Ok(false);
        }
        let best = best as u32;
        self.reserve_elements(table, best)?;
        for key in len + 1..=best {
            // SAFETY: there is room for it.
            unsafe { table.array.get().add(key as usize).write(Cell::new(Value::NIL)) };
        }
        table.array_end.set(best + 1);
        let mut stay = false;
        for entry in hash.live() {
            match entry.key.get().as_integer().filter(|key| (1..=best as i64).contains(key)) {
                Some(key) => {
                    let value = entry.value.replace(Value::NIL);
                    table.indexed()[key as usize].set(value);
                    self.wrote(table, value);
                }
                None => stay = true,
            }
        }
        if !stay {
            // Whoever adds elements has nothing to look for in it.
            table.hash.set(None);
            self.entries_move(table, hash);
            self.free(hash.header(), hash.bytes());
        }
        Ok(true)
    }
}

/// The header in front of values that are an object of their own.
pub(super) fn header_of(values: *mut Cell<Value>) -> Gc<Header> {
    // SAFETY: a header is in front of them.
    unsafe { Gc::of(values.cast::<Header>().sub(1)) }
}
