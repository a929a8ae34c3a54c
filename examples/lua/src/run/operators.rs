//! Operators that are not quick: on strings that are numbers, with metamethods, and those that fail.

use super::calls::closure_in_slot;
use super::fields::learn;
use super::slow::values;
use crate::number;
use crate::object::heap::{Gc, ObjectKind};
use crate::object::shape::Meta;
use crate::object::string::{MAX_LEN, Str};
use crate::object::table::Table;
use crate::object::value::{ABSENT, FALSE, Type, Value};
use crate::run::cases::{FIRST, OperatorCase, SECOND};
use crate::run::error::{Attempt, Result};
use crate::run::vm::Vm;
use azulejo::{Cases, Frames};

pub(crate) const ADD: u32 = 0;
pub(crate) const SUBTRACT: u32 = 1;
pub(crate) const MULTIPLY: u32 = 2;
pub(crate) const DIVIDE: u32 = 3;
pub(crate) const MODULO: u32 = 4;
pub(crate) const POWER: u32 = 5;
pub(crate) const NEGATE: u32 = 6;
pub(crate) const EQUAL: u32 = 7;
pub(crate) const LESS: u32 = 8;
pub(crate) const LESS_EQUAL: u32 = 9;
pub(crate) const LENGTH: u32 = 10;
pub(crate) const CONCAT: u32 = 11;

/// What a loop starts with.
pub(crate) const INITIAL: u32 = 0;
pub(crate) const LIMIT: u32 = 1;
pub(crate) const STEP: u32 = 2;

impl Vm {
    /// The metatable of a value.
    pub(crate) fn metatable(&self, value: Value) -> Option<Gc<Table>> {
        match value.type_of() {
            Type::Table => value.as_table().and_then(|table| table.metatable()),
            Type::Userdata => value.as_userdata().and_then(|userdata| userdata.metatable.get()),
            other => self.metatables[other as usize],
        }
    }

    /// The metamethod of an operator that a value has.
    pub(crate) fn metamethod(&self, value: Value, which: u32) -> Option<Value> {
        let method = self.metatable(value)?.get_string(self.names.operators[which as usize]);
        (!method.is_nil()).then_some(method)
    }
}

impl Vm {
    /// Leaves the call of a metamethod to the bytecode that runs, if it is a function of Lua. Then the bytecode gets [`ABSENT`], for which
    /// it looks.
    pub(super) fn leaves(&mut self, method: Value, operands: [Value; 2]) -> bool {
        (self.method, self.operands) = (method, operands);
        method.object_kind() == Some(ObjectKind::Closure)
    }

    /// Calls the metamethod of an operator, or leaves that to the bytecode.
    fn call_operator(&mut self, frames: &Frames<'_>, method: Value, a: Value, b: Value) -> Result<u64> {
        if self.leaves(method, [a, b]) {
            return Ok(ABSENT);
        }
        self.call_value(frames, method, &[a, b]).map(|value| value.0)
    }
}

impl Vm {
    /// The number that a value is in arithmetic.
    pub(crate) fn to_number(value: Value) -> Option<f64> {
        value.as_number().or_else(|| number::parse(value.as_string()?.bytes()))
    }
}

impl Vm {
    /// Notes what a table's metatable has for an operator, if that is a closure.
    fn learn_operator(&mut self, which: u32, (of, operand): (Value, u32), cases: Cases<'_, OperatorCase>) {
        let name = self.names.operators[which as usize];
        if let Some(case) = of.as_table().and_then(|table| self.method_case(table, (name, 2), operand)) {
            self.learn_method(case, cases);
        }
    }

    /// What a site may know of tables of this one's shape, whose metatable has a closure under a name, which gets so many arguments.
    pub(super) fn method_case(
        &mut self,
        table: Gc<Table>,
        (name, arguments): (Gc<Str>, u32),
        operand: u32,
    ) -> Option<OperatorCase> {
        self.heap.know_metatable(table);
        let shape = table.shape.get();
        let Meta::Known(meta) = shape.meta() else { return None };
        let (offset, closure) = closure_in_slot(meta, name)?;
        let code = self.code_for(closure, arguments)?;
        meta.header().set(Table::PROTOTYPE);
        let (shape, other, epoch) = (shape.word(), meta.address(), self.heap.epoch);
        Some(OperatorCase { shape, other, epoch, offset, operand, code })
    }

    /// Adds such a case. A site that is full may know shapes that tables had when the program started: it forgets one now and then.
    pub(super) fn learn_method(&mut self, case: OperatorCase, cases: Cases<'_, OperatorCase>) {
        /// So many times sites that are full learn nothing: what sees too many shapes is not to change all the time.
        const PATIENCE: u32 = 16;
        if !learn(cases, case) {
            self.n_crowded = self.n_crowded.wrapping_add(1);
            if self.n_crowded.is_multiple_of(PATIENCE) {
                cases.replace((self.n_crowded / PATIENCE) as usize % cases.len(), case);
            }
        }
    }
}

pub(crate) fn arith(
    vm: &mut Vm,
    frames: Frames<'_>,
    which: u32,
    a: u64,
    b: u64,
    cases: Cases<'_, OperatorCase>,
) -> Result<u64> {
    let (a, b) = (Value(a), Value(b));
    if let (Some(x), Some(y)) = (Vm::to_number(a), Vm::to_number(b)) {
        return Ok(Value::number(match which {
            ADD => x + y,
            SUBTRACT => x - y,
            MULTIPLY => x * y,
            DIVIDE => x / y,
            MODULO => x - (x / y).floor() * y,
            POWER => number::power(x, y),
            _ => -x,
        })
        .0);
    }
    if let Some(method) = vm.metamethod(a, which).or_else(|| vm.metamethod(b, which)) {
        match a.is_number() {
            false => vm.learn_operator(which, (a, FIRST), cases),
            true if vm.metatable(a).is_none() => vm.learn_operator(which, (b, SECOND), cases),
            true => {}
        }
        return vm.call_operator(&frames, method, a, b);
    }
    let (operand, wrong) = if Vm::to_number(a).is_none() { (0, a) } else { (1, b) };
    vm.fail_on(&frames, Attempt::Arithmetic, operand, wrong)
}

/// Gives what is true or false, or `ABSENT`.
pub(crate) fn compare(
    vm: &mut Vm,
    frames: Frames<'_>,
    which: u32,
    a: u64,
    b: u64,
    cases: Cases<'_, OperatorCase>,
) -> Result<u64> {
    let (a, b) = (Value(a), Value(b));
    if b.as_table().is_some() && vm.metatable(a) == vm.metatable(b) {
        vm.learn_operator(which, (a, FIRST), cases);
    }
    if which == EQUAL {
        let methods = [a, b].map(|value| vm.metamethod(value, EQUAL));
        if methods[0].is_none()
            && let Some(meta) = a.as_table().and_then(|table| table.metatable())
        {
            meta.header().set(Table::NO_EQUAL);
        }
        return match methods {
            [Some(one), Some(other)] if one == other => vm.call_operator(&frames, one, a, b),
            _ => Ok(FALSE),
        };
    }
    if let (Some(x), Some(y)) = (a.as_string(), b.as_string()) {
        let (x, y) = (x.bytes(), y.bytes());
        return Ok(Value::bool(if which == LESS { x < y } else { x <= y }).0);
    }
    let is_alike = a.type_of() == b.type_of();
    let methods = [a, b].map(|value| vm.metamethod(value, which).filter(|_| is_alike));
    if let [Some(one), Some(other)] = methods
        && one == other
    {
        return vm.call_operator(&frames, one, a, b);
    }
    if which == LESS_EQUAL
        && is_alike
        && let [Some(one), Some(other)] = [b, a].map(|value| vm.metamethod(value, LESS))
        && one == other
    {
        return Ok(Value::bool(!vm.call_value(&frames, one, &[b, a])?.is_true()).0);
    }
    cannot_compare(vm, &frames, a, b)
}

/// Compares a number with what is none, or the other way round.
pub(crate) fn compare_number(vm: &mut Vm, frames: Frames<'_>, a: u64, b: u64) -> Result<u64> {
    cannot_compare(vm, &frames, Value(a), Value(b))
}

fn cannot_compare(vm: &mut Vm, frames: &Frames<'_>, a: Value, b: Value) -> Result<u64> {
    let [x, y] = [a, b].map(|value| value.type_of().name());
    let message = match x == y {
        true => format!("attempt to compare two {x} values"),
        false => format!("attempt to compare {x} with {y}"),
    };
    vm.fail_in(frames, message)
}

pub(crate) fn loop_number(vm: &mut Vm, frames: Frames<'_>, value: u64, which: u32) -> Result<u64> {
    match Vm::to_number(Value(value)) {
        Some(number) => Ok(Value::number(number).0),
        None => {
            let what = ["initial value", "limit", "step"][which as usize];
            vm.fail_in(&frames, format!("'for' {what} must be a number"))
        }
    }
}

pub(crate) fn length(vm: &mut Vm, frames: Frames<'_>, a: u64) -> Result<u64> {
    let value = Value(a);
    if let Some(table) = value.as_table() {
        return Ok(Value::number(table.length() as f64).0);
    }
    match vm.metamethod(value, LENGTH) {
        Some(method) => vm.call_value(&frames, method, &[value]).map(|value| value.0),
        None => vm.fail_on(&frames, Attempt::Length, 0, value),
    }
}

/// Whether a value is a string, or has a text as a number.
fn is_text(value: Value) -> bool {
    value.is_number() || value.as_string().is_some()
}

/// The string of the texts of some values.
fn concat_texts(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let mut text = vm.library.take_buffer();
    let most = |value: &Value| value.as_string().map_or(number::MOST_BYTES, |string| string.len());
    let most = values.iter().map(most).sum::<usize>();
    if most > MAX_LEN {
        return vm.fail(frames, "string length overflow");
    }
    vm.make_room(&mut text, most)?;
    for value in values {
        match value.as_string() {
            Some(string) => text.extend_from_slice(string.bytes()),
            None => number::write(f64::from_bits(value.0), &mut text),
        }
    }
    let string = vm.new_string(&text);
    vm.library.bring_back(text);
    string
}

/// # Safety
///
/// So many values must be there.
pub(crate) unsafe fn concat(vm: &mut Vm, frames: Frames<'_>, first: *const u64, count: u64) -> Result<u64> {
    // SAFETY: the template passes a run of registers.
    let given = unsafe { values(first, count) };
    if given.iter().all(|value| is_text(*value)) {
        return concat_texts(vm, &frames, given).map(|text| text.0);
    }
    let mut all = given.to_vec();
    while all.len() > 1 {
        let texts = all.iter().rev().take_while(|value| is_text(**value)).count();
        if texts >= 2 {
            let text = concat_texts(vm, &frames, &all[all.len() - texts..])?;
            all.truncate(all.len() - texts);
            all.push(text);
            continue;
        }
        let [.., a, b] = all[..] else { unreachable!("there are two") };
        let Some(method) = vm.metamethod(a, CONCAT).or_else(|| vm.metamethod(b, CONCAT)) else {
            let (operand, wrong) = if is_text(a) { (all.len() - 1, b) } else { (all.len() - 2, a) };
            return vm.fail_on(&frames, Attempt::Concatenate, operand as u32, wrong);
        };
        if all.len() == 2 {
            return vm.call_operator(&frames, method, a, b);
        }
        let kept = vm.roots.len();
        vm.roots.extend_from_slice(&all);
        let result = vm.call_value(&frames, method, &[a, b]);
        vm.roots.truncate(kept);
        let result = result?;
        all.truncate(all.len() - 2);
        all.push(result);
    }
    Ok(all[0].0)
}
