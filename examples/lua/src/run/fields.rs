//! Fields and elements that no cache knows.

use crate::object::heap::Gc;
use crate::object::shape::{Meta, ShapeRef};
use crate::object::string::Str;
use crate::object::table::{KeyError, Table};
use crate::object::value::{ABSENT, NIL, Type, Value};
use crate::run::cases::{
    ADDED, ADDED_OR_META, FieldCase, INHERITED, NEVER, NOT_INHERITED, NOWHERE, OWN, OWN_OR_META, OfShape,
};
use crate::run::error::{Attempt, Result};
use crate::run::vm::Vm;
use azulejo::{Cases, Frames};

/// Adds a case in place of what is known of the shape, if that is something else. A case that is known and has not helped is not added
/// again: the slow path would seem to have run only to learn, and the optimizer would leave it out.
pub(super) fn learn<C: OfShape>(vm: &mut Vm, cases: Cases<'_, C>, case: C) {
    if cases.iter().any(|known| known == case) {
        return;
    }
    // SAFETY: a case has a shape of this heap.
    let is_there = |known: &C| unsafe { ShapeRef::is_there(known.shape()) };
    // What is known of shapes that are gone is of no use.
    cases.retain(|known| !known.is_about_the_same(&case) && is_there(known));
    if !cases.add(case) {
        // It may be full of shapes that tables had when the program started. But what sees too many shapes is not to change all the time.
        vm.n_crowded = vm.n_crowded.wrapping_add(1);
        if vm.n_crowded.is_multiple_of(CROWDED) {
            cases.replace((vm.n_crowded / CROWDED) as usize % cases.len(), case);
        }
    }
}

/// So many times a site that is full learns nothing, until it forgets a case.
const CROWDED: u32 = 16;

/// What a site may know of a field that a table has, or does not have.
fn found(table: Gc<Table>, key: Value) -> Option<FieldCase> {
    let shape = table.shape.get();
    let slot = shape.slot(key.as_string()?);
    let kind = match (slot, shape.meta()) {
        (Some(_), Meta::None) => OWN,
        (Some(_), _) => OWN_OR_META,
        (None, Meta::None) if !shape.is_dictionary() => NOWHERE,
        _ => return None,
    };
    Some(FieldCase { shape: shape.word(), offset: 8 * slot.unwrap_or(0), kind, other: 0, epoch: NEVER })
}

pub(crate) fn get_field(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    cases: Cases<'_, FieldCase>,
) -> Result<u64> {
    let (object, key) = (Value(object), Value(key));
    let Some(table) = object.as_table() else { return get_index(vm, frames, object.0, key.0) };
    vm.heap.know_metatable(table);
    // A site that is full has nothing to learn, but that now and then it forgets a case.
    if cases.is_full() && !vm.n_crowded.wrapping_add(1).is_multiple_of(CROWDED) {
        let name = key.as_string().expect("fields have names");
        let own = Some(table.get_string(name)).filter(|value| !value.is_nil());
        let (epoch, period) = (vm.heap.epoch, vm.heap.period());
        if let Some(value) = own.or_else(|| vm.inherited.find(table, key, (epoch, period))) {
            vm.n_crowded = vm.n_crowded.wrapping_add(1);
            return Ok(value.0);
        }
    }
    if let Some(case) = found(table, key) {
        let value = table.get(key);
        let is_nowhere = case.kind == OWN_OR_META
            && inherited(vm, table, key).is_some_and(|(case, _)| case.kind == NOT_INHERITED);
        let epoch = if is_nowhere { vm.heap.epoch } else { NEVER };
        learn(vm, cases, FieldCase { epoch, ..case });
        if case.kind != OWN_OR_META || is_nowhere || !value.is_nil() {
            return Ok(value.0);
        }
    } else if let Some((case, value)) = inherited(vm, table, key) {
        learn(vm, cases, case);
        if cases.is_full() {
            let period = vm.heap.period();
            vm.inherited.note(key, period, case);
        }
        return Ok(value.0);
    }
    get_index(vm, frames, object.0, key.0)
}

/// Gets a method of a string, and notes where in the table in which all strings look it is.
pub(crate) fn get_of_string(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    cases: Cases<'_, FieldCase>,
) -> Result<u64> {
    let name = Value(key).as_string().expect("methods have names");
    if let Some(meta) = vm.metatables[Type::String as usize]
        && let Some(of) = meta.get_string(vm.names.index).as_table()
        && let Some(slot) = of.shape.get().slot(name)
        && !of.get_string(name).is_nil()
    {
        [meta, of].iter().for_each(|table| table.header().set(Table::PROTOTYPE));
        let other = of.address();
        cases.retain(|_| false);
        cases.add(FieldCase { shape: 0, offset: 8 * slot, kind: INHERITED, other, epoch: vm.heap.epoch });
    }
    vm.get(&frames, Value(object), Value(key)).map(|value| value.0)
}

/// What a table inherits by metatables whose `__index` are tables.
fn inherited(vm: &mut Vm, table: Gc<Table>, key: Value) -> Option<(FieldCase, Value)> {
    let (shape, name) = (table.shape.get(), key.as_string()?);
    if shape.is_dictionary() || !matches!(shape.meta(), Meta::Known(_)) {
        return None;
    }
    let nowhere =
        FieldCase { shape: shape.word(), offset: 0, kind: NOT_INHERITED, other: 0, epoch: vm.heap.epoch };
    let mut at = table;
    for _ in 0..16 {
        let Some(meta) = at.metatable() else { return Some((nowhere, Value::NIL)) };
        meta.header().set(Table::PROTOTYPE);
        let next = meta.get_string(vm.names.index);
        if next.is_nil() {
            return Some((nowhere, Value::NIL));
        }
        at = next.as_table()?;
        at.header().set(Table::PROTOTYPE);
        let holder = at.shape.get();
        if let Some(slot) = holder.slot(name) {
            let value = at.get_string(name);
            let case = FieldCase { offset: 8 * slot, kind: INHERITED, other: at.address(), ..nowhere };
            return (!value.is_nil()).then_some((case, value));
        }
        if holder.is_dictionary() {
            return None;
        }
    }
    None
}

/// The operand of a bytecode that is indexed; an object further on has no name.
fn indexed(object: Value, first: Value) -> u32 {
    if object == first { 0 } else { u32::MAX }
}

/// What a search for a field ends with.
enum FieldSearch {
    /// Its value.
    Value(Value),
    /// A metamethod, and the object that has it.
    Method(Value, Value),
}

impl Vm {
    /// Gets a field of any value, with metamethods.
    pub(crate) fn get(&mut self, frames: &Frames<'_>, object: Value, key: Value) -> Result<Value> {
        match self.find(frames, object, key)? {
            FieldSearch::Value(value) => Ok(value),
            FieldSearch::Method(method, object) => self.call_value(frames, method, &[object, key]),
        }
    }

    fn find(&mut self, frames: &Frames<'_>, first: Value, key: Value) -> Result<FieldSearch> {
        self.find_on(frames, first, key, false)
    }

    /// The same; the first value may be known to be a table that has nothing there.
    fn find_on(
        &mut self,
        frames: &Frames<'_>,
        first: Value,
        key: Value,
        mut is_absent: bool,
    ) -> Result<FieldSearch> {
        let mut object = first;
        for _ in 0..100 {
            if let Some(table) = object.as_table() {
                let value = if std::mem::take(&mut is_absent) { Value::NIL } else { table.get(key) };
                if !value.is_nil() || table.metatable().is_none() {
                    return Ok(FieldSearch::Value(value));
                }
            }
            let method = self.metatable(object).map_or(Value::NIL, |meta| meta.get_string(self.names.index));
            match method.type_of() {
                Type::Nil if object.as_table().is_some() => return Ok(FieldSearch::Value(Value::NIL)),
                Type::Nil => return self.fail_on(frames, Attempt::Index, indexed(object, first), object),
                Type::Function => return Ok(FieldSearch::Method(method, object)),
                _ => object = method,
            }
        }
        self.fail_in(frames, "loop in gettable")
    }

    /// Sets a field of any value, with metamethods.
    pub(crate) fn set(&mut self, frames: &Frames<'_>, object: Value, key: Value, value: Value) -> Result<()> {
        match self.find_setter(frames, object, key, value)? {
            None => Ok(()),
            Some((method, object)) => self.call_value(frames, method, &[object, key, value]).map(drop),
        }
    }

    /// Sets a field, unless there is a metamethod to call.
    fn find_setter(
        &mut self,
        frames: &Frames<'_>,
        first: Value,
        key: Value,
        value: Value,
    ) -> Result<Option<(Value, Value)>> {
        let mut object = first;
        for _ in 0..100 {
            let meta = match object.as_table() {
                Some(table) => {
                    let meta = table.metatable();
                    if meta.is_some() && self.heap.replace(table, key, value) {
                        return Ok(None);
                    }
                    let method = meta.map_or(Value::NIL, |meta| meta.get_string(self.names.new_index));
                    if method.is_nil() {
                        meta.iter().for_each(|meta| meta.header().set(Table::NO_SETTER));
                        let set = self.heap.set(table, key, value);
                        return set.map(|()| None).or_else(|error| self.fail_in(frames, error.message()));
                    }
                    // A metamethod does not see a key that no table may have.
                    if let Some(error) = KeyError::of(key) {
                        return self.fail_in(frames, error.message());
                    }
                    method
                }
                None => {
                    self.metatable(object).map_or(Value::NIL, |meta| meta.get_string(self.names.new_index))
                }
            };
            match meta.type_of() {
                Type::Nil => return self.fail_on(frames, Attempt::Index, indexed(object, first), object),
                Type::Function => return Ok(Some((meta, object))),
                _ => object = meta,
            }
        }
        self.fail_in(frames, "loop in settable")
    }
}

/// Gives the element, or `ABSENT`.
pub(crate) fn get_index(vm: &mut Vm, frames: Frames<'_>, object: u64, key: u64) -> Result<u64> {
    index(vm, &frames, object, Value(key), false)
}

/// Likewise, of a table that has no such element.
pub(crate) fn get_missing(vm: &mut Vm, frames: &Frames<'_>, object: u64, key: u64) -> Result<u64> {
    index(vm, frames, object, Value(key), true)
}

#[inline]
fn index(vm: &mut Vm, frames: &Frames<'_>, object: u64, key: Value, is_absent: bool) -> Result<u64> {
    match vm.find_on(frames, Value(object), key, is_absent)? {
        FieldSearch::Value(value) => Ok(value.0),
        FieldSearch::Method(method, object) if vm.leaves(method, [object, key]) => Ok(ABSENT),
        FieldSearch::Method(method, object) => Ok(vm.call_value(frames, method, &[object, key])?.0),
    }
}

pub(crate) fn set_field(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    value: u64,
    cases: Cases<'_, FieldCase>,
) -> Result<u64> {
    let Some(table) = Value(object).as_table() else { return set_index(vm, frames, object, key, value) };
    vm.heap.know_metatable(table);
    let before = table.shape.get();
    // A metamethod may let the collector work.
    let kept = vm.roots.len();
    vm.roots.extend([Value(object), Value(key)]);
    let set = set_index(vm, frames, object, key, value);
    vm.roots.truncate(kept);
    let set = set?;
    // SAFETY: it was a shape of this heap.
    if !unsafe { ShapeRef::is_there(before.word()) } {
        // A metamethod has taken the table's metatable, and the collector the shape.
        return Ok(set);
    }
    let name = Value(key).as_string().expect("fields have names");
    // A field of nil is one as well: tables that are made in one place have the same shape then.
    let is_absent = table.shape.get() == before && before.slot(name).is_none();
    let after = match is_absent && Value(value).is_nil() {
        true => vm.heap.shapes.with_key(before, name).unwrap_or(before),
        false => table.shape.get(),
    };
    learn_set(vm, (table, name), before, after, cases);
    Ok(set)
}

/// Lets the collector work, if it is its turn: a table that grows and grows is to be noticed.
fn grown(vm: &mut Vm, frames: &Frames<'_>) -> Result<()> {
    if vm.heap.wants_step() { vm.collect_due(frames) } else { Ok(()) }
}

/// Adds what a site may know of a field that was set.
fn learn_set(
    vm: &mut Vm,
    (table, name): (Gc<Table>, Gc<Str>),
    before: ShapeRef,
    after: ShapeRef,
    cases: Cases<'_, FieldCase>,
) {
    // What begins like this may be a metamethod: somebody has to look.
    if name.bytes().starts_with(b"__") || table.header().has(Table::PROTOTYPE) {
        return;
    }
    // A metatable that others look at counts its changes as an epoch's.
    let is_quiet = |meta: Gc<Table>| {
        meta.header().set(Table::PROTOTYPE);
        meta.get_string(vm.names.new_index).is_nil()
    };
    let epoch = match before.meta() {
        Meta::Known(meta) if is_quiet(meta) => vm.heap.epoch,
        _ => NEVER,
    };
    let slot = before.slot(name);
    let offset = 8 * slot.unwrap_or(before.count());
    let kind = match (slot, before.meta()) {
        (Some(_), Meta::None) => OWN,
        (Some(_), _) => OWN_OR_META,
        (None, _) if after.is_dictionary() || after.count() != before.count() + 1 => return,
        (None, Meta::None) => ADDED,
        (None, Meta::Known(_)) if epoch != NEVER => ADDED_OR_META,
        _ => return,
    };
    let mut other = 0;
    if slot.is_none() {
        vm.heap.learn_shape(after);
        other = after.word();
    }
    learn(vm, cases, FieldCase { shape: before.word(), offset, kind, other, epoch });
}

/// Gives `ABSENT` if there is a metamethod to call.
pub(crate) fn set_index(vm: &mut Vm, frames: Frames<'_>, object: u64, key: u64, value: u64) -> Result<u64> {
    let (key, value) = (Value(key), Value(value));
    match vm.find_setter(&frames, Value(object), key, value)? {
        None => grown(vm, &frames).map(|()| NIL),
        Some((method, object)) if vm.leaves(method, [object, key]) => Ok(ABSENT),
        Some((method, object)) => vm.call_value(&frames, method, &[object, key, value]).map(|_| NIL),
    }
}
