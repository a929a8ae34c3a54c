//! The hash part of a table: all keys that are neither in the array nor in slots.
//!
//! In: keys and values. Out: entries in the order in which they came, and an index that finds them. An entry whose value is `nil` stays
//! until the part is made anew, so that a traversal may remove what it finds. Machine code looks at the first places of the index by itself,
//! and traverses the entries (`run/templates.rs`): it knows the layout, and how keys are hashed.
//!
//! The part of a weak table may have entries of which the collector knows that their key or value is garbage, before it has removed them
//! ([`HashPart::set_waiting`]). Until then whoever looks at a value sees `nil` there.

use super::table::KeyError;
use crate::object::function::Userdata;
use crate::object::heap::{Gc, Header, Heap, ObjectKind};
use crate::object::value::{NIL, Value};
use std::cell::Cell;

/// A key and its value.
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) key: Cell<Value>,
    pub(crate) value: Cell<Value>,
}

/// The hash part. The entries follow, and behind them the index: for each place zero, or a word with the number of an entry, from one, and
/// with all bits of the key's hash that the mask does not have. So a search looks at hardly any entry but the one that it finds.
#[repr(C)]
pub(crate) struct HashPart {
    /// Its length is the capacity: a power of two.
    header: Header,
    /// How many entries were added.
    pub(crate) used: Cell<u32>,
    /// How many places of the index there are, less one. There are two for each entry.
    pub(crate) mask: u32,
}

// Machine code computes where entries and the index are: number n, from one, stands 16 n bytes behind the start of the part.
const _: () = assert!(size_of::<HashPart>() == 16 && size_of::<Entry>() == 16);

/// The smallest part has so many entries.
const LEAST: u32 = 4;

/// What of a table is weak.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Weakness {
    pub(super) keys: bool,
    pub(super) values: bool,
}

/// Flags of parts whose entries wait for the collector to look at them: what is weak, and the color of garbage.
const WEAK_KEYS: u16 = 1;
const WEAK_VALUES: u16 = 2;
const ODD_GARBAGE: u16 = 4;

/// Whether a value is garbage, or a userdata whose finalizer is to run or has run. Strings count as values: they are kept.
pub(super) fn is_gone(value: Value, garbage: u8) -> bool {
    let Some(object) = value.header() else { return false };
    match object.kind() {
        ObjectKind::String => false,
        // SAFETY: the object is a userdata.
        ObjectKind::Userdata if unsafe { object.cast::<Userdata>() }.is_finalized() => true,
        _ => object.color.get() == garbage,
    }
}

/// Whether a key is garbage. One that has a finalizer is there until that has run.
pub(super) fn is_key_gone(key: Value, garbage: u8) -> bool {
    let object = key.header().filter(|object| object.kind() != ObjectKind::String);
    object.is_some_and(|object| object.color.get() == garbage)
}

impl HashPart {
    /// The index begins so many bytes behind the part, and half an entry more for each unit of the mask.
    pub(crate) const INDEX: usize = size_of::<HashPart>() + size_of::<Entry>() / 2;

    /// A part with room for this many entries, if there can be so many.
    pub(super) fn new(heap: &mut Heap, room: u32) -> Result<Gc<HashPart>, KeyError> {
        let capacity = room.max(LEAST).checked_next_power_of_two().filter(|capacity| *capacity < 1 << 29);
        let capacity = capacity.ok_or(KeyError::Overflow)?;
        let places = 2 * capacity;
        let entries = capacity as usize * size_of::<Entry>();
        let bytes = size_of::<HashPart>() + entries + places as usize * size_of::<u32>();
        let memory = heap.try_allocate(bytes).ok_or(KeyError::NoMemory)?;
        let header = Header::new(ObjectKind::Words, heap.memory_color(), capacity);
        // SAFETY: there is so much memory.
        unsafe {
            memory.cast::<HashPart>().write(HashPart { header, used: Cell::new(0), mask: places - 1 });
            let part = Gc::<HashPart>::of(memory.cast());
            part.index_start().cast_mut().write_bytes(0, places as usize);
            Ok(part)
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<HashPart>()
            + self.capacity() as usize * size_of::<Entry>()
            + (self.mask as usize + 1) * size_of::<u32>()
    }

    fn capacity(&self) -> u32 {
        self.header.len.get()
    }

    /// All entries that were added; those with the value `nil` are not there.
    pub(crate) fn entries(&self) -> &[Entry] {
        // SAFETY: so many entries follow.
        unsafe {
            std::slice::from_raw_parts(std::ptr::from_ref(self).add(1).cast(), self.used.get() as usize)
        }
    }

    fn index_start(&self) -> *const u32 {
        let entries: *const Entry = std::ptr::from_ref(self).wrapping_add(1).cast();
        entries.wrapping_add(self.capacity() as usize).cast()
    }

    /// A word of the index.
    #[inline(always)]
    fn index(&self, place: u32) -> &Cell<u32> {
        // SAFETY: the mask keeps it within the index, which follows the entries.
        unsafe { &*self.index_start().add((place & self.mask) as usize).cast() }
    }

    /// The number of a key's entry, which may have the value `nil`.
    #[inline]
    pub(super) fn find(&self, key: Value) -> Option<u32> {
        let hash = hash_of(key);
        let mut place = hash;
        loop {
            let word = self.index(place).get();
            if word == 0 {
                return None;
            }
            if (word ^ hash) & !self.mask == 0 {
                let at = (word & self.mask) - 1;
                // SAFETY: the index has numbers of entries, from one.
                if unsafe { self.entries().get_unchecked(at as usize) }.key.get() == key {
                    return Some(at);
                }
            }
            place = place.wrapping_add(1);
        }
    }

    /// An entry that was found.
    ///
    /// # Safety
    ///
    /// The number must be one that [`HashPart::find`] gave.
    #[inline(always)]
    pub(super) unsafe fn entry(&self, at: u32) -> &Entry {
        // SAFETY: the caller guarantees it, and no entry goes away.
        unsafe { self.entries().get_unchecked(at as usize) }
    }

    /// The value of a key; `nil` if there is none.
    #[inline]
    pub(super) fn get(&self, key: Value) -> Value {
        // SAFETY: the number is of an entry that was found.
        self.find(key).map_or(Value::NIL, |at| self.value(unsafe { self.entry(at) }))
    }

    /// The value of an entry; `nil` if it has none.
    #[inline(always)]
    pub(super) fn value(&self, entry: &Entry) -> Value {
        let value = entry.value.get();
        if self.header.flags.get() == 0 { value } else { self.waiting_value(entry, value) }
    }

    #[cold]
    fn waiting_value(&self, entry: &Entry, value: Value) -> Value {
        if value.is_nil() {
            // Its key may be no object any more.
            return value;
        }
        let garbage = self.header.has(ODD_GARBAGE) as u8;
        let is_gone = self.header.has(WEAK_KEYS) && is_key_gone(entry.key.get(), garbage)
            || self.header.has(WEAK_VALUES) && is_gone(value, garbage);
        if is_gone { Value::NIL } else { value }
    }

    /// Takes the value from an entry.
    pub(super) fn take(&self, at: u32) -> Value {
        let entry = &self.entries()[at as usize];
        let value = self.value(entry);
        entry.value.set(Value::NIL);
        value
    }

    /// Entries whose key or value is garbage of this color are to be removed.
    pub(super) fn set_waiting(&self, weakness: Weakness, garbage: u8) {
        let odd = if garbage == 0 { 0 } else { ODD_GARBAGE };
        let keys = if weakness.keys { WEAK_KEYS } else { 0 };
        self.header.set(odd | keys | if weakness.values { WEAK_VALUES } else { 0 });
    }

    /// Whether there may be such entries.
    pub(super) fn is_waiting(&self) -> bool {
        self.header.flags.get() != 0
    }

    /// Removes all such entries.
    pub(super) fn remove_all_waiting(&self) {
        self.remove_waiting(0, self.used.get());
    }

    /// Removes such entries among some, from a number on. Returns whether these were the last.
    pub(super) fn remove_waiting(&self, from: u32, count: u32) -> bool {
        let entries = self.entries().iter().skip(from as usize).take(count as usize);
        if self.header.flags.get() != 0 {
            entries.for_each(|entry| entry.value.set(self.value(entry)));
        }
        let is_last = from.saturating_add(count) >= self.used.get();
        if is_last {
            self.header.flags.set(0);
        }
        is_last
    }

    /// Adds an entry for a key that has none. Returns whether there was room.
    pub(super) fn add(&self, key: Value, value: Value) -> bool {
        let at = self.used.get();
        if at == self.capacity() {
            return false;
        }
        self.used.set(at + 1);
        let entry = &self.entries()[at as usize];
        entry.key.set(key);
        entry.value.set(value);
        let hash = hash_of(key);
        let mut place = hash;
        while self.index(place).get() != 0 {
            place = place.wrapping_add(1);
        }
        self.index(place).set(hash & !self.mask | (at + 1));
        true
    }

    /// The entries with a value.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Entry> {
        self.entries().iter().filter(|entry| self.value(entry).0 != NIL)
    }
}

/// What hashes are multiplied by.
pub(crate) const FACTOR: u64 = 0x94d0_49bb_1331_11eb;

/// How far up the bits of the product are that change the lower half of the upper ones. With these two, numbers and addresses that are the same
/// distance from each other are looked for at up to four places in the mean, whatever the distance is; without it there are distances for which it is thirty.
pub(crate) const FOLD: u32 = 46;

/// The hash of a key, by its bits: strings are there once. Of small integers only the upper bits differ, and of addresses the lower ones, so
/// both halves count.
#[inline(always)]
fn hash_of(key: Value) -> u32 {
    let product = (key.0 ^ key.0 >> 32).wrapping_mul(FACTOR);
    (product >> 32 ^ product >> FOLD) as u32
}
