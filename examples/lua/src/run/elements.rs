//! Elements that are in no array: where the sites of computed keys find them.
//!
//! In: tables and keys that a slow path has looked up. Out: a case that says that a site finds elements elsewhere, and, for names in
//! slots, in which: [`Lookups`], which all sites share. The templates search those and hash parts by themselves, where a site has the case,
//! and leave what they do not find to the slow path. Another case says that a site sets elements of tables with metatables.

use crate::object::heap::Gc;
use crate::object::shape::Meta;
use crate::object::string::Str;
use crate::object::table::Table;
use crate::object::value::{ABSENT, NIL, Value};
use crate::run::cases::{
    ALONE, BESIDE_METATABLE, ELSEWHERE, ElementCase, FIRST, FieldCase, NEVER, NOWHERE, OperatorCase,
    note_kind,
};
use crate::run::error::Result;
use crate::run::fields::{get_index, get_missing, grown, inherited, set_case, set_index, set_named};
#[cfg(doc)]
use crate::run::lookups::Lookups;
use crate::run::vm::Vm;
use azulejo::{Cases, Frames};

/// Notes where an element is that has been looked up, so that it is found without a call the next time.
fn note(vm: &mut Vm, table: Gc<Table>, key: Value, cases: Cases<'_, ElementCase>) {
    if table.hash.get().is_none() {
        let shape = table.shape.get();
        let Some(name) = key.as_string() else { return };
        let Some(slot) = shape.slot(name) else { return };
        vm.lookups.note_slot(shape, key, slot);
    }
    note_kind(cases, ELSEWHERE);
}

/// Notes where tables have a name whose value is nil, if they have it nowhere or inherit it; returns what they inherit.
fn note_absent(vm: &mut Vm, table: Gc<Table>, key: Value) -> Option<Value> {
    let shape = table.shape.get();
    if let Some(slot) = shape.slot(key.as_string()?) {
        // There it may be again.
        vm.lookups.note_slot(shape, key, slot);
        return None;
    }
    let (case, value) = match shape.meta() {
        Meta::None if shape.is_dictionary() => return None,
        Meta::None => {
            (FieldCase { shape: shape.word(), offset: 0, kind: NOWHERE, other: 0, epoch: NEVER }, Value::NIL)
        }
        _ => inherited(vm, table, key)?,
    };
    let epoch = vm.heap.epoch;
    vm.lookups.note(&case, key, epoch);
    Some(value)
}

/// Notes that a table's metatable has a closure under a name for elements that are not there. A number is not among the names of a shape.
fn learn_by_function(vm: &mut Vm, table: Gc<Table>, method: (Gc<Str>, u32), by: Cases<'_, OperatorCase>) {
    let shape = table.shape.get();
    let operand = if shape.count() == 0 && !shape.is_dictionary() { ALONE } else { FIRST };
    if let Some(case) = vm.method_case(table, method, operand) {
        vm.learn_method(case, by);
    }
}

/// Gives the element, or `ABSENT` if there is a metamethod to call.
pub(crate) fn get_element(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    cases: Cases<'_, ElementCase>,
    by: Cases<'_, OperatorCase>,
) -> Result<u64> {
    if let Some(table) = Value(object).as_table() {
        let value = table.get(Value(key));
        if !value.is_nil() {
            note(vm, table, Value(key), cases);
            return Ok(value.0);
        }
        note_kind(cases, ELSEWHERE);
        vm.heap.know_metatable(table);
        if let Some(value) = note_absent(vm, table, Value(key)) {
            return Ok(value.0);
        }
        if table.metatable().is_none() {
            return Ok(NIL);
        }
        learn_by_function(vm, table, (vm.names.index, 2), by);
        return get_missing(vm, &frames, object, key);
    }
    get_index(vm, frames, object, key)
}

/// Assigns to an element of a table without a metatable, which is not in a slot: it is looked for once.
fn set_plain(
    vm: &mut Vm,
    frames: &Frames<'_>,
    table: Gc<Table>,
    (key, value): (Value, Value),
    cases: Cases<'_, ElementCase>,
) -> Result<u64> {
    match vm.heap.assign(table, key, value) {
        Ok(true) => note(vm, table, key, cases),
        Ok(false) => grown(vm, frames)?,
        Err(error) => vm.fail_on_key(frames, error)?,
    }
    Ok(NIL)
}

/// Gives `ABSENT` if there is a metamethod to call.
pub(crate) fn set_element(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    value: u64,
    cases: Cases<'_, ElementCase>,
    by: Cases<'_, OperatorCase>,
) -> Result<u64> {
    let table = Value(object).as_table();
    let has_slot = |table: &Gc<Table>| Value(key).as_string().is_some() && !table.shape.get().is_dictionary();
    if let Some(table) = table.filter(|table| table.metatable().is_none() && !has_slot(table)) {
        return set_plain(vm, &frames, table, (Value(key), Value(value)), cases);
    }
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
        note_kind(cases, BESIDE_METATABLE);
    }
    if let (Some(table), Some(name)) = (table, Value(key).as_string())
        && let Err(error) = vm.heap.make_map_of_many(table, name)
    {
        return vm.fail_plainly(&frames, error.message());
    }
    let (Some(table), Some(name)) = (table, Value(key).as_string()) else {
        let set = set_index(vm, frames, object, key, value)?;
        if let Some(table) = table.filter(|_| set == ABSENT) {
            learn_by_function(vm, table, (vm.names.new_index, 3), by);
        }
        return Ok(set);
    };
    let (set, before) = set_named(vm, frames, (table, name), value)?;
    if set == ABSENT {
        note_kind(cases, ELSEWHERE);
        learn_by_function(vm, table, (vm.names.new_index, 3), by);
        return Ok(set);
    }
    let after = table.shape.get();
    if let Some(before) = before.filter(|before| *before != after)
        && let Some(case) = set_case(vm, (table, name), before, after)
    {
        let epoch = vm.heap.epoch;
        vm.lookups.note(&case, Value(key), epoch);
        note_kind(cases, ELSEWHERE);
    }
    Ok(set)
}
