//! Fields and elements that no cache knows.

use crate::object::heap::Gc;
use crate::object::shape::{Meta, ShapeRef};
use crate::object::string::Str;
use crate::object::table::{KeyError, Table};
use crate::object::value::{ABSENT, NIL, Type, Value};
use crate::run::cases::{
    ADDED, ADDED_OR_META, BY_FUNCTION, CROWDED, ELSEWHERE, ElementCase, FIRST, FieldCase, INHERITED, NEVER,
    NOT_INHERITED, NOWHERE, OWN, OWN_OR_META, OfShape, OperatorCase, note_kind,
};
use crate::run::error::{Attempt, Result};
#[cfg(doc)]
use crate::run::lookups::Lookups;
use crate::run::vm::Vm;
use azulejo::{Cases, Frames};

/// Adds a case in place of what is known of the shape, if that is something else. A case that is known and has not helped is not added
/// again: the slow path would seem to have run only to learn, and the optimizer would leave it out. Returns whether the site had room for it.
pub(super) fn learn<C: OfShape>(cases: Cases<'_, C>, case: C) -> bool {
    if cases.iter().any(|known| known == case) {
        return true;
    }
    // SAFETY: a case has a shape of this heap.
    let is_there = |known: &C| known.shape() == 0 || unsafe { ShapeRef::is_there(known.shape()) };
    // What is known of shapes that are gone is of no use.
    cases.retain(|known| !known.is_about_the_same(&case) && is_there(known));
    cases.add(case)
}

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

/// What a site knows of a field: cases of some shapes, and whether it finds more of them elsewhere.
#[derive(Clone, Copy)]
struct FieldSite<'a> {
    cases: Cases<'a, FieldCase>,
    seen: Cases<'a, ElementCase>,
}

/// So many times a site that is full forgets a case for a new one: its shapes may be those that tables had when the program started. A site
/// that sees more shapes looks for them [elsewhere](Lookups) from then on.
const PATIENCE: u32 = 8;

impl FieldSite<'_> {
    /// Adds a case of the name, or notes it where sites look that know too many shapes.
    fn learn(self, vm: &mut Vm, key: Value, case: FieldCase) {
        let before = self.seen.iter().next().unwrap_or(ElementCase::new(CROWDED));
        if before.kind == CROWDED {
            if learn(self.cases, case) {
                return;
            }
            if before.times < PATIENCE {
                self.cases.replace(before.times as usize % self.cases.len(), case);
            }
            let times = before.times + 1;
            let kind = if times > PATIENCE { ELSEWHERE } else { CROWDED };
            self.seen.retain(|_| false);
            self.seen.add(ElementCase { kind, times });
        }
        let epoch = vm.heap.epoch;
        vm.lookups.note(&case, key, epoch);
    }
}

pub(crate) fn get_field(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    cases: Cases<'_, FieldCase>,
    seen: Cases<'_, ElementCase>,
) -> Result<u64> {
    let (object, key) = (Value(object), Value(key));
    let Some(table) = object.as_table() else { return get_index(vm, frames, object.0, key.0) };
    vm.heap.know_metatable(table);
    let site = FieldSite { cases, seen };
    if let Some(case) = found(table, key) {
        let value = table.get(key);
        let is_nowhere = case.kind == OWN_OR_META
            && inherited(vm, table, key).is_some_and(|(case, _)| case.kind == NOT_INHERITED);
        let epoch = if is_nowhere { vm.heap.epoch } else { NEVER };
        site.learn(vm, key, FieldCase { epoch, ..case });
        if case.kind != OWN_OR_META || is_nowhere || !value.is_nil() {
            return Ok(value.0);
        }
    } else if let Some((case, value)) = inherited(vm, table, key) {
        site.learn(vm, key, case);
        return Ok(value.0);
    } else if let Some(case) = by_function(vm, table, (key, vm.names.index), 2) {
        site.learn(vm, key, case);
    } else if table.shape.get().is_dictionary() {
        let value = table.get(key);
        if !value.is_nil() {
            note_kind(seen, ELSEWHERE);
            return Ok(value.0);
        }
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
        // Where it was before is not true any more.
        cases.retain(|known| known.shape() != 0);
        let case = FieldCase { shape: 0, offset: 8 * slot, kind: INHERITED, other, epoch: vm.heap.epoch };
        if !cases.add(case) {
            cases.replace(0, case);
        }
    }
    vm.get(&frames, Value(object), Value(key)).map(|value| value.0)
}

/// What a table inherits by metatables whose `__index` are tables.
pub(super) fn inherited(vm: &mut Vm, table: Gc<Table>, key: Value) -> Option<(FieldCase, Value)> {
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

/// What a site may know of a field that a table does not have, whose metatable has a closure for that under a name. It gets so many arguments.
fn by_function(
    vm: &mut Vm,
    table: Gc<Table>,
    (key, name): (Value, Gc<Str>),
    arguments: u32,
) -> Option<FieldCase> {
    let shape = table.shape.get();
    if shape.is_dictionary() || shape.slot(key.as_string()?).is_some() {
        return None;
    }
    let OperatorCase { shape, epoch, offset, code, .. } = vm.method_case(table, (name, arguments), FIRST)?;
    Some(FieldCase { shape, offset, kind: BY_FUNCTION, other: code, epoch })
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
                        return set.map(|()| None).or_else(|error| self.fail_on_key(frames, error));
                    }
                    // A metamethod does not see a key that no table may have.
                    if let Some(error) = KeyError::of(key) {
                        return self.fail_on_key(frames, error);
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

/// Sets a field of a table. Also gives the shape that the table had before, unless a metamethod has taken its metatable, and the collector
/// the shape.
pub(super) fn set_named(
    vm: &mut Vm,
    frames: Frames<'_>,
    (table, name): (Gc<Table>, Gc<Str>),
    value: u64,
) -> Result<(u64, Option<ShapeRef>)> {
    let (object, key, before) = (Value::table(table), Value::string(name), table.shape.get());
    // A metamethod may let the collector work.
    let kept = vm.roots.len();
    vm.roots.extend([object, key]);
    let set = set_index(vm, frames, object.0, key.0, value);
    vm.roots.truncate(kept);
    // SAFETY: it was a shape of this heap.
    let is_there = unsafe { ShapeRef::is_there(before.word()) };
    Ok((set?, is_there.then_some(before)))
}

pub(crate) fn set_field(
    vm: &mut Vm,
    frames: Frames<'_>,
    object: u64,
    key: u64,
    value: u64,
    cases: Cases<'_, FieldCase>,
    seen: Cases<'_, ElementCase>,
) -> Result<u64> {
    let Some(table) = Value(object).as_table() else { return set_index(vm, frames, object, key, value) };
    vm.heap.know_metatable(table);
    let name = Value(key).as_string().expect("fields have names");
    let (set, before) = set_named(vm, frames, (table, name), value)?;
    let Some(before) = before else { return Ok(set) };
    // A field of nil is one as well: tables that are made in one place have the same shape then.
    let is_absent = table.shape.get() == before && before.slot(name).is_none();
    let after = match is_absent && Value(value).is_nil() {
        true => vm.heap.shapes.with_key(before, name).unwrap_or(before),
        false => table.shape.get(),
    };
    let case = match set == ABSENT {
        true => by_function(vm, table, (Value(key), vm.names.new_index), 3),
        false => set_case(vm, (table, name), before, after),
    };
    if let Some(case) = case {
        FieldSite { cases, seen }.learn(vm, Value(key), case);
    }
    Ok(set)
}

/// Lets the collector work, if it is its turn: a table that grows and grows is to be noticed.
pub(super) fn grown(vm: &mut Vm, frames: &Frames<'_>) -> Result<()> {
    if vm.heap.wants_step() { vm.collect_due(frames) } else { Ok(()) }
}

/// What a site may know of a field that was set.
pub(super) fn set_case(
    vm: &mut Vm,
    (table, name): (Gc<Table>, Gc<Str>),
    before: ShapeRef,
    after: ShapeRef,
) -> Option<FieldCase> {
    // What begins like this may be a metamethod: somebody has to look.
    if name.bytes().starts_with(b"__") || table.header().has(Table::PROTOTYPE) {
        return None;
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
        (None, _) if after.is_dictionary() || after.count() != before.count() + 1 => return None,
        (None, Meta::None) => ADDED,
        (None, Meta::Known(_)) if epoch != NEVER => ADDED_OR_META,
        _ => return None,
    };
    let mut other = 0;
    if slot.is_none() {
        vm.heap.learn_shape(after);
        other = after.word();
    }
    Some(FieldCase { shape: before.word(), offset, kind, other, epoch })
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
