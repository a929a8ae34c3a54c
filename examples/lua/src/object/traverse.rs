//! Traversals.
//!
//! In: a key. Out: the key behind it, in the order elements, slots, key 0, entries of the hash part. As long as no key is added, each key
//! comes once, whatever is assigned or removed meanwhile.

use super::table::Table;
use crate::object::value::Value;

/// The key of a traversal is not one of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoSuchKey;

impl Table {
    /// The key and value behind a key, or the first if that is `nil`; `None` at the end.
    pub fn next(&self, key: Value) -> Result<Option<(Value, Value)>, NoSuchKey> {
        let start = match key.is_nil() {
            true => 0,
            false => self.position(key).ok_or(NoSuchKey)? + 1,
        };
        Ok(self.from_position(start).map(|(_, key, value)| (key, value)))
    }

    /// The first key at a position or behind it, with its position and its value.
    pub fn from_position(&self, start: usize) -> Option<(usize, Value, Value)> {
        let (elements, slots) = (self.elements(), self.slot_values());
        let shape = self.shape.get();
        for (at, element) in elements.iter().enumerate().skip(start) {
            let value = element.get();
            if !value.is_nil() {
                return Some((at, Value::number(at as f64 + 1.0), value));
            }
        }
        let before = elements.len();
        for (at, slot) in slots.iter().enumerate().skip(start.saturating_sub(before)) {
            let value = slot.get();
            if !value.is_nil() {
                let key = shape.key(at as u32).expect("the slot has a key");
                return Some((before + at, Value::string(key), value));
            }
        }
        let before = before + slots.len();
        let zero = self.indexed()[0].get();
        if start <= before && !zero.is_nil() {
            return Some((before, Value::number(0.0), zero));
        }
        let before = before + 1;
        let hash = self.hash.get()?;
        let entries = hash.entries();
        for (at, entry) in entries.iter().enumerate().skip(start.saturating_sub(before)) {
            let (key, value) = (entry.key.get(), hash.value(entry));
            if !value.is_nil() {
                return Some((before + at, key, value));
            }
        }
        None
    }

    /// The position of a key, which may have the value `nil` by now.
    fn position(&self, key: Value) -> Option<usize> {
        let (elements, slots) = (self.elements().len(), self.slot_values().len());
        if let Some(integer) = key.as_integer()
            && (0..=elements as i64).contains(&integer)
        {
            return Some(if integer == 0 { elements + slots } else { integer as usize - 1 });
        }
        if let Some(string) = key.as_string()
            && let Some(slot) = self.shape.get().slot(string)
        {
            return Some(elements + slot as usize);
        }
        let at = self.hash.get()?.find(super::table::normalized(key))?;
        Some(elements + slots + 1 + at as usize)
    }
}
