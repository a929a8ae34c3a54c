//! Traversals.
//!
//! In: a key, or a [`Position`]. Out: the key behind it, in the order elements, slots, key 0, entries of the hash part. As long as no key is
//! added, each key comes once, whatever is assigned or removed meanwhile. Machine code goes from position to position by itself, where
//! those are in the array or in the hash part (`run/templates.rs`).

use super::table::Table;
use crate::object::value::Value;

/// The key of a traversal is not one of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoSuchKey;

/// How far a traversal is: so many places of a part are behind it. The parts have numbers of their own, so a part that changes its length
/// meanwhile changes no position in another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Position(pub(crate) u64);

impl Position {
    /// In front of all. Positions in the array are the keys that came last.
    pub const START: Position = Position(0);

    /// In front of all slots.
    const SLOTS: u64 = 1 << 33;

    /// In front of all entries of the hash part, behind key 0.
    pub(crate) const ENTRIES: u64 = 1 << 34;
}

impl Table {
    /// The key and value behind a key, or the first if that is `nil`; `None` at the end.
    pub fn next(&self, key: Value) -> Result<Option<(Value, Value)>, NoSuchKey> {
        let start = match key.is_nil() {
            true => Position::START,
            false => self.position(key).ok_or(NoSuchKey)?,
        };
        Ok(self.behind(start).map(|(_, key, value)| (key, value)))
    }

    /// The first key and value behind a position, and their position.
    // Inlined, so that none of them goes through memory.
    #[inline(always)]
    pub fn behind(&self, Position(at): Position) -> Option<(Position, Value, Value)> {
        if at < Position::SLOTS {
            for (before, element) in self.elements().iter().enumerate().skip(at as usize) {
                let value = element.get();
                if !value.is_nil() {
                    let key = before as u64 + 1;
                    return Some((Position(key), Value::number(key as f64), value));
                }
            }
        }
        if at < Position::ENTRIES {
            let start = at.saturating_sub(Position::SLOTS) as usize;
            for (slot, of) in self.slot_values().iter().enumerate().skip(start) {
                let value = of.get();
                if !value.is_nil() {
                    let key = self.shape.get().key(slot as u32).expect("the slot has a key");
                    return Some((Position(Position::SLOTS + slot as u64 + 1), Value::string(key), value));
                }
            }
            let zero = self.indexed()[0].get();
            if !zero.is_nil() {
                return Some((Position(Position::ENTRIES), Value::number(0.0), zero));
            }
        }
        let hash = self.hash.get()?;
        let start = at.saturating_sub(Position::ENTRIES) as usize;
        for (place, entry) in hash.entries().iter().enumerate().skip(start) {
            let value = hash.value(entry);
            if !value.is_nil() {
                return Some((Position(Position::ENTRIES + place as u64 + 1), entry.key.get(), value));
            }
        }
        None
    }

    /// The position of a key, which may have the value `nil` by now.
    fn position(&self, key: Value) -> Option<Position> {
        if let Some(integer) = key.as_integer()
            && (0..=self.elements().len() as i64).contains(&integer)
        {
            return Some(Position(if integer == 0 { Position::ENTRIES } else { integer as u64 }));
        }
        if let Some(string) = key.as_string()
            && let Some(slot) = self.shape.get().slot(string)
        {
            return Some(Position(Position::SLOTS + u64::from(slot) + 1));
        }
        if let Some(at) = self.hash.get().and_then(|hash| hash.find(super::table::normalized(key))) {
            return Some(Position(Position::ENTRIES + at as u64 + 1));
        }
        // The array may have forgotten it since its value was taken away.
        let integer = key.as_integer().filter(|key| (1..i64::from(self.array_room.get())).contains(key))?;
        Some(Position(integer as u64))
    }
}
