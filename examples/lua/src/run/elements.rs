//! Elements that are in no array: where the sites of computed keys find them.
//!
//! In: tables and keys that a slow path has looked up. Out: a case that says that a site finds elements elsewhere, and, for names in
//! slots, in which: [`Lookups`], which all sites share. The templates search slots and hash parts by themselves, where a site has the case,
//! and leave what they do not find to the slow path. Another case says that a site sets elements of tables with metatables.
//!
//! **Invariant:** tables of a lookup's shape have its key in its slot. Both words are of that shape and that key alone, however long ago
//! that was: the words of shapes are never used again, and a shape keeps its keys.

use crate::object::heap::Gc;
use crate::object::table::Table;
use crate::object::value::{NIL, Value};
use crate::run::error::Result;
use crate::run::fields::{get_index, get_missing, set_index};
use crate::run::vm::Vm;
use azulejo::prelude::*;
use azulejo::{Cases, Frames};

/// What a bytecode has met beside elements in arrays of tables without metatables.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct ElementCase {
    /// [`ELSEWHERE`] or [`BESIDE_METATABLE`].
    pub kind: u32,
}

/// Elements that are in no array.
pub(crate) const ELSEWHERE: u32 = 1;
/// It has set an element of a table with a metatable.
pub(crate) const BESIDE_METATABLE: u32 = 2;

/// How many lookups there are.
const COUNT: usize = 512;

/// Where a lookup stands among the words of all: [`place`] has these bits.
pub(crate) const LOOKUP_MASK: u64 = ((COUNT - 1) * (size_of::<Lookup>() / 8)) as u64;

/// Where a key was found in tables of a shape.
#[derive(Fields, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Lookup {
    /// The shape; zero if there is none.
    pub shape: u64,
    pub key: u64,
    /// The offset of the key's slot.
    pub offset: u64,
}

/// In which slots names were found last, by shape and key. Each has one place, which is the next one's that has the same.
#[repr(C)]
pub(crate) struct Lookups([Lookup; COUNT]);

impl Lookups {
    pub(crate) fn new() -> Lookups {
        Lookups([Lookup::default(); COUNT])
    }
}

/// The number of a lookup's first word, as the templates compute it. Strings are apart by multiples of 16, shapes by more.
fn place(shape: u64, key: u64) -> u64 {
    (key >> 2 ^ key >> 10 ^ shape >> 6) & LOOKUP_MASK
}

/// Notes where an element is that has been looked up, so that it is found without a call the next time.
fn note(vm: &mut Vm, table: Gc<Table>, key: Value, cases: Cases<'_, ElementCase>) {
    if table.hash.get().is_none() {
        let shape = table.shape.get();
        let Some(name) = key.as_string() else { return };
        let Some(slot) = shape.slot(name) else { return };
        let at = place(shape.word(), key.0) as usize / (size_of::<Lookup>() / 8);
        vm.lookups.0[at] = Lookup { shape: shape.word(), key: key.0, offset: 8 * u64::from(slot) };
    }
    cases.add(ElementCase { kind: ELSEWHERE });
}

/// Gives the element, or `ABSENT` if there is a metamethod to call.
pub(crate) fn get_element(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    cases: Cases<'_, ElementCase>,
) -> Result<u64> {
    if let Some(table) = Value(object).as_table() {
        let value = table.get(Value(key));
        if !value.is_nil() {
            note(vm, table, Value(key), cases);
            return Ok(value.0);
        }
        if table.metatable().is_none() {
            return Ok(NIL);
        }
        return get_missing(vm, &frames, object, key);
    }
    get_index(vm, frames, object, key)
}

/// Gives `ABSENT` if there is a metamethod to call.
pub(crate) fn set_element(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    value: u64,
    cases: Cases<'_, ElementCase>,
) -> Result<u64> {
    let table = Value(object).as_table();
    let has_metatable = table.is_some_and(|table| table.metatable().is_some());
    let may_be_in_array = Value(key).as_integer().is_some_and(|key| key > 0);
    // What is there is replaced, whatever a metatable says.
    if let Some(table) = table.filter(|_| !has_metatable || !may_be_in_array)
        && vm.heap.replace(table, Value(key), Value(value))
    {
        note(vm, table, Value(key), cases);
        return Ok(NIL);
    }
    if has_metatable && may_be_in_array {
        cases.add(ElementCase { kind: BESIDE_METATABLE });
    }
    if let (Some(table), Some(name)) = (table, Value(key).as_string())
        && let Err(error) = vm.heap.make_map_of_many(table, name)
    {
        return vm.fail_plainly(&frames, error.message());
    }
    set_index(vm, frames, object, key, value)
}
