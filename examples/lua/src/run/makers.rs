//! Objects that bytecode makes.

use super::slow::values;
use crate::object::function::{Closure, Definition, VarCell};
use crate::object::heap::{Gc, Header};
use crate::object::layout::Layout;
use crate::object::table::{Room, Table};
use crate::object::value::{FUNCTION, Value};
use crate::run::error::Result;
use crate::run::vm::{Vm, pack_of};
use azulejo::Frames;

pub(crate) fn collect(vm: &mut Vm, frames: Frames<'_>) -> Result<()> {
    vm.collect_due(&frames)
}

pub(crate) unsafe fn wrote(vm: &mut Vm, object: *mut Header, value: u64) {
    // SAFETY: the template passes an object.
    vm.heap.wrote_black(unsafe { Gc::of(object) }, Value(value));
}

pub(crate) fn new_cell(vm: &mut Vm, value: u64) -> *mut VarCell {
    vm.heap.cell(Value(value)).pointer()
}

pub(crate) fn new_table(vm: &mut Vm, slots: u32, elements: u32) -> *mut Table {
    vm.heap.table(Room { slots, elements }).pointer()
}

/// # Safety
///
/// The layout must be there. What belongs into the table is put there before anybody looks at it.
pub(crate) unsafe fn new_object(vm: &mut Vm, layout: u64) -> *mut Table {
    // SAFETY: the caller guarantees it: the function that has the bytecode keeps the layout, and has the values ready.
    unsafe { vm.heap.table_of(&*std::ptr::with_exposed_provenance::<Layout>(layout as usize)) }.pointer()
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn set_list(
    vm: &mut Vm,
    table: u64,
    first: u32,
    from: *const u64,
    count: u64,
) -> Result<()> {
    let table = Value(table).as_table().expect("a constructor has made it");
    // SAFETY: the template passes a run of registers.
    vm.heap.set_list(table, first, unsafe { values(from, count) }).or_else(|_| vm.fail_for_memory())
}

/// # Safety
///
/// As for `set_list`.
pub(crate) unsafe fn set_list_and_results(
    vm: &mut Vm,
    table: u64,
    first: u32,
    from: *const u64,
    count: u64,
) -> Result<()> {
    // SAFETY: the template passes a run of registers.
    let count = vm.gather_with_results(unsafe { values(from, count) });
    let table = Value(table).as_table().expect("a constructor has made it");
    vm.heap.set_list(table, first, &vm.gathered[..count as usize]).or_else(|_| vm.fail_for_memory())
}

/// # Safety
///
/// As for `set_list`.
pub(crate) unsafe fn set_list_and_varargs(
    vm: &mut Vm,
    table: u64,
    first: u32,
    from: *const u64,
    count: u64,
    pack: u64,
) -> Result<()> {
    let table = Value(table).as_table().expect("a constructor has made it");
    // SAFETY: the template passes a run of registers.
    let values = unsafe { values(from, count) };
    let mut set = |first, values| vm.heap.set_list(table, first, values).or_else(|_| vm.fail_for_memory());
    set(first, values)?;
    set(first + count as u32, pack_of(pack).plain_values())
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn new_closure(
    vm: &mut Vm,
    closure: u64,
    definition: u64,
    from: *const u64,
    count: u64,
) -> *mut Closure {
    // SAFETY: the template passes a run of registers.
    let upvalues = unsafe { values(from, count) };
    let outer: Gc<Closure> = Value(closure).as_object(FUNCTION).expect("a closure runs");
    // SAFETY: the definition is among the constants of the function that runs.
    let definition: Gc<Definition> = unsafe { Gc::at(definition) };
    let made = vm.heap.closure(definition, outer.environment.get(), upvalues);
    // A function that uses its own variable has itself.
    let itself = Value::object(FUNCTION, made);
    made.upvalues()
        .iter()
        .filter(|upvalue| upvalue.get() == Value::ABSENT)
        .for_each(|upvalue| upvalue.set(itself));
    made.pointer()
}

pub(crate) fn new_arg(vm: &mut Vm, pack: u64) -> Result<u64> {
    let pack = pack_of(pack);
    let table = vm.heap.table(Room { slots: 1, elements: pack.values().len() as u32 });
    for (value, key) in pack.values().iter().zip(1..) {
        vm.heap.set_integer(table, key, value.get()).or_else(|_| vm.fail_for_memory())?;
    }
    let n = vm.names.n;
    vm.heap.set_string(table, n, Value::number(pack.values().len() as f64)).expect("the key may be one");
    Ok(Value::table(table).0)
}
