//! Fields that sites with too many cases have looked up.
//!
//! In: the shape of a table, and the name of a field. Out: its value, if a site that was full has found it among those from which such tables
//! inherit, and nothing has changed since. A site that sees many classes would go through their metatables each time.
//!
//! **Invariant:** what a place knows is about the epoch, and the [period](Heap::period), in which it was found. In that epoch the table that has
//! the field stays, as tables of the shape inherit from it; in that period the name is not freed.

use super::cases::{FieldCase, INHERITED, NOT_INHERITED};
use crate::object::heap::Gc;
#[cfg(doc)]
use crate::object::heap::Heap;
use crate::object::table::Table;
use crate::object::value::Value;

/// How many fields are known at most.
const COUNT: usize = 256;

/// What was found.
#[derive(Clone, Copy)]
struct FoundField {
    name: u64,
    period: u32,
    case: FieldCase,
}

/// Each field has one place, which is the next one's that has the same. There are none until something was found.
#[derive(Default)]
pub(crate) struct InheritedFields(Vec<FoundField>);

/// The place of a field. Strings are apart by multiples of 16, shapes by more.
fn place(shape: u64, name: u64) -> usize {
    (name >> 4 ^ name >> 12 ^ shape >> 6 ^ shape >> 14) as usize % COUNT
}

impl InheritedFields {
    /// Notes what was found.
    pub(crate) fn note(&mut self, name: Value, period: u32, case: FieldCase) {
        if matches!(case.kind, INHERITED | NOT_INHERITED) {
            let found = FoundField { name: name.0, period, case };
            // The first is put everywhere: nobody looks for it but in its own place.
            self.0.resize(COUNT, found);
            self.0[place(case.shape, name.0)] = found;
        }
    }

    /// The value that a table inherits, in an epoch and a period; nil if nobody has the field.
    #[inline]
    pub(crate) fn find(&self, table: Gc<Table>, name: Value, (epoch, period): (u64, u32)) -> Option<Value> {
        let shape = table.shape.get().word();
        let FoundField { name: known, period: found_in, case } = self.0.get(place(shape, name.0))?;
        if (*known, case.shape, case.epoch, *found_in) != (name.0, shape, epoch, period) {
            return None;
        }
        if case.kind == NOT_INHERITED {
            return Some(Value::NIL);
        }
        // SAFETY: in this epoch the table is there, and has a slot there.
        let value = unsafe { Gc::<Table>::at(case.other) }.slot_values()[case.offset as usize / 8].get();
        (!value.is_nil()).then_some(value)
    }
}
