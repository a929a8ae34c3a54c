//! Where fields were found by sites that know too many shapes, and by those of computed names.
//!
//! In: a shape, a name, and where tables of that shape have the name: in a slot, or in a slot of a table from which they inherit, or
//! nowhere; and which shape they have when they have got it. Out: [`Lookups`], which all sites share, and templates search by themselves.
//!
//! **Invariant:** tables of a lookup's shape have its key in its slot. Both words are of that shape and that key alone, however long ago
//! that was: the words of shapes are never used again, and a shape keeps its keys. What says where a key is that the shape has not is about one
//! [epoch](Heap::epoch): until the next one the table that has it stays, with its slots, and so does the key. A key that nobody has
//! may be freed, and another one be where it was; that one is a key of none of these tables either, unless they get it, which begins an epoch.

use super::cases::{ADDED, ADDED_OR_META, FieldCase, INHERITED, NOT_INHERITED, NOWHERE, OWN, OWN_OR_META};
use crate::object::hash::FACTOR;
use crate::object::heap::Gc;
#[cfg(doc)]
use crate::object::heap::Heap;
use crate::object::shape::{MAX_SLOTS, ShapeRef};
use crate::object::table::Table;
use crate::object::value::{NIL, Value};
use azulejo::prelude::*;
use std::ptr;

/// How many lookups there are.
const COUNT: usize = 512;

/// The number of a lookup is in these bits of [`hash`], and of an addition in fewer.
pub(crate) const LOOKUP_MASK: u64 = COUNT as u64 - 1;
pub(crate) const ADDITION_MASK: u64 = COUNT as u64 / 4 - 1;

/// By so much the word of a shape is shifted, and what comes out.
pub(crate) const SHAPE_SHIFT: u32 = 22;
pub(crate) const HASH_SHIFT: u32 = 48;

/// How many words a lookup has, and an addition.
pub(crate) const LOOKUP_WORDS: usize = size_of::<Lookup>() / 8;
pub(crate) const ADDITION_WORDS: usize = size_of::<Addition>() / 8;

/// A place that is less is the offset of a slot of the table itself.
pub(crate) const FOREIGN: u64 = 8 * MAX_SLOTS as u64;

/// Where a key was found in tables of a shape.
#[derive(Fields, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Lookup {
    /// The shape; zero if there is none.
    pub shape: u64,
    pub key: u64,
    /// The offset of the key's slot; or the address of a value, if the table itself has none.
    pub place: u64,
    /// The heap's epoch in which the address is true.
    pub epoch: u64,
}

/// What tables of a shape become that get a key.
#[derive(Fields, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Addition {
    /// The shape; zero if there is none.
    pub shape: u64,
    pub key: u64,
    /// The shape that such tables have then, and the offset of the key's slot.
    pub next: u64,
    pub offset: u64,
    /// The heap's epoch in which this is true.
    pub epoch: u64,
}

/// What was found last, by shape and key. Each has one place, which is the next one's that has the same number.
#[repr(C)]
pub(crate) struct Lookups {
    pub(crate) all: [Lookup; COUNT],
    pub(crate) additions: [Addition; COUNT / 4],
    /// The address of a nil, which nobody has.
    pub(crate) nothing: u64,
}

impl Lookups {
    pub(crate) fn new() -> Lookups {
        static NOTHING: u64 = NIL;
        let nothing = ptr::from_ref(&NOTHING).expose_provenance() as u64;
        Lookups { all: [Lookup::default(); COUNT], additions: [Addition::default(); COUNT / 4], nothing }
    }

    fn put(&mut self, shape: u64, key: Value, place: u64, epoch: u64) {
        self.all[(hash(shape, key.0) & LOOKUP_MASK) as usize] = Lookup { shape, key: key.0, place, epoch };
    }

    /// Notes which slot of tables of a shape a name has.
    pub(crate) fn note_slot(&mut self, shape: ShapeRef, key: Value, slot: u32) {
        self.put(shape.word(), key, 8 * u64::from(slot), 0);
    }

    /// Notes what a site has found in an epoch: whether tables have the field or inherit it, or what they become with it.
    pub(crate) fn note(&mut self, case: &FieldCase, key: Value, epoch: u64) {
        let place = match case.kind {
            OWN | OWN_OR_META => u64::from(case.offset),
            NOWHERE | NOT_INHERITED => self.nothing,
            INHERITED => {
                // SAFETY: in this epoch the table is there, and has a slot there.
                let holder = unsafe { Gc::<Table>::at(case.other) };
                holder.slot_values()[case.offset as usize / 8].as_ptr().expose_provenance() as u64
            }
            ADDED | ADDED_OR_META => {
                let FieldCase { shape, other: next, offset, .. } = *case;
                let addition = Addition { shape, key: key.0, next, offset: offset.into(), epoch };
                self.additions[(hash(shape, key.0) & ADDITION_MASK) as usize] = addition;
                return;
            }
            _ => return,
        };
        self.put(case.shape, key, place, epoch);
    }
}

/// What the numbers of lookups are made of, as the templates compute it.
fn hash(shape: u64, key: u64) -> u64 {
    (key ^ shape << SHAPE_SHIFT).wrapping_mul(FACTOR) >> HASH_SHIFT
}
